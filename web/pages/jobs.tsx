/** All jobs: filtered, searched and sorted by the address, with several at once cancelled or retried. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { Job } from '../../src/contract/job.ts'
import { client } from '../data/client.ts'
import { useTitle } from '../data/hooks.ts'
import { jobsQuery } from '../data/queries.ts'
import { formatCost, formatCount } from '../format/amounts.ts'
import { fileName, inert, shorten } from '../format/text.ts'
import { formatSpan } from '../format/time.ts'
import { standingOfJob } from '../format/words.ts'
import { useAct } from '../parts/act.ts'
import { Button, Empty, ErrorBox, PageTitle, Skeleton, StateWord } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { JOB_FILTERS, type JobsSearch } from './jobs-search.ts'

type Sort = 'newest' | 'cost' | 'time' | 'attempts'
const SORTS: Readonly<Record<Sort, (a: Job, b: Job) => number>> = {
  newest: (a, b) => b.id.localeCompare(a.id),
  cost: (a, b) => b.spent.usd - a.spent.usd,
  time: (a, b) => (b.progress.elapsedMs ?? 0) - (a.progress.elapsedMs ?? 0),
  attempts: (a, b) => b.attemptCount - a.attemptCount,
}
const isSort = (text: string | undefined): text is Sort => text !== undefined && text in SORTS

const CAN_CANCEL: readonly Job['state'][] = ['queued', 'running', 'waiting', 'paused']
const CAN_RETRY: readonly Job['state'][] = ['paused', 'failed', 'cancelled', 'waiting']

export function Jobs() {
  useTitle('Jobs')
  const search: JobsSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    jobsQuery(search.state),
  )
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const sort: Sort = isSort(search.sort) ? search.sort : 'newest'
  const change = (part: JobsSearch) =>
    void navigate({ to: '/jobs', search: { ...search, ...part }, replace: true })
  const jobs = useMemo(() => {
    const words = search.q?.trim().toLowerCase() ?? ''
    const all = data?.pages.flatMap(({ items }) => items) ?? []
    return all
      .filter(
        ({ prompt, id, workDir }) =>
          words === '' || `${prompt} ${id} ${workDir}`.toLowerCase().includes(words),
      )
      .sort(SORTS[sort])
  }, [data, search.q, sort])
  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  return (
    <Page wide>
      <PageTitle
        aside={
          <input
            aria-label="Search jobs"
            placeholder="Search…"
            value={search.q ?? ''}
            onChange={(event) => change({ q: event.target.value })}
            className="h-7 w-56 rounded-md border border-line bg-surface px-2 max-sm:h-9 max-sm:w-full"
          />
        }
      >
        Jobs
      </PageTitle>
      <nav className="mb-3 flex flex-wrap items-center gap-1" aria-label="Filter by state">
        {JOB_FILTERS.map(({ state, word }) => (
          <Link
            key={word}
            to="/jobs"
            search={{ ...(search.q ? { q: search.q } : {}), ...(state ? { state } : {}) }}
            data-current={search.state === state || undefined}
            className="rounded-md px-2.5 py-1 text-small text-muted hover:bg-raised data-current:bg-raised data-current:font-medium data-current:text-text"
          >
            {word}
          </Link>
        ))}
      </nav>
      <Bulk jobs={jobs.filter(({ id }) => chosen.has(id))} onDone={() => setChosen(new Set())} />
      {error ? (
        <ErrorBox error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={8} height={32} />
      ) : jobs.length === 0 ? (
        <Empty
          {...(search.state || search.q
            ? {}
            : { command: 'reprise run "Update the dependencies and make the tests pass"' })}
        >
          {search.state || search.q
            ? 'No job is like this.'
            : 'There are no jobs yet. A job is a prompt to finish unattended:'}
        </Empty>
      ) : (
        <Table
          jobs={jobs}
          chosen={chosen}
          toggle={toggle}
          sort={sort}
          onSort={(name) => change({ sort: name })}
        />
      )}
      {hasNextPage && (
        <Button className="mt-3" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </Page>
  )
}

function Bulk({ jobs, onDone }: { jobs: readonly Job[]; onDone: () => void }) {
  const act = useAct()
  if (jobs.length === 0) return null
  const some = (states: readonly Job['state'][]) => jobs.filter(({ state }) => states.includes(state))
  const all = (work: (id: string) => Promise<unknown>, of: readonly Job[]) => async () => {
    if (await act.run(() => Promise.all(of.map(({ id }) => work(id))))) onDone()
  }
  const [cancellable, retryable] = [some(CAN_CANCEL), some(CAN_RETRY)]
  return (
    <div className="mb-2 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-raised px-3 py-1.5">
      <span>{formatCount(jobs.length)} chosen</span>
      <Button
        busy={act.busy}
        disabled={retryable.length === 0}
        onClick={all((id) => client.retryJob(id), retryable)}
      >
        Retry {retryable.length || ''}
      </Button>
      <Button
        kind="danger"
        busy={act.busy}
        disabled={cancellable.length === 0}
        onClick={all((id) => client.cancelJob(id), cancellable)}
      >
        Cancel {cancellable.length || ''}
      </Button>
      <Button kind="bare" onClick={onDone}>
        Choose none
      </Button>
      {act.error !== null && <ErrorBox error={act.error} />}
    </div>
  )
}

function Table({
  jobs,
  chosen,
  toggle,
  sort,
  onSort,
}: {
  jobs: readonly Job[]
  chosen: ReadonlySet<string>
  toggle: (id: string) => void
  sort: Sort
  onSort: (sort: Sort) => void
}) {
  const heading = (name: Sort, word: string) => (
    <th scope="col" aria-sort={sort === name ? 'descending' : 'none'} className="px-2 text-right font-normal">
      <button
        type="button"
        onClick={() => onSort(name)}
        className={sort === name ? 'text-text' : 'hover:text-text'}
      >
        {word}
        {sort === name ? ' ↓' : ''}
      </button>
    </th>
  )
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-surface">
      <table className="w-full text-small">
        <thead className="text-label text-muted">
          <tr className="h-8 border-b border-line text-left">
            <th scope="col" className="w-8">
              <span className="sr-only">choose</span>
            </th>
            <th scope="col" className="w-32 px-2 font-normal">
              state
            </th>
            <th scope="col" className="px-2 font-normal">
              prompt
            </th>
            <th scope="col" className="px-2 font-normal max-md:hidden">
              agent
            </th>
            <th scope="col" className="px-2 font-normal max-lg:hidden">
              directory
            </th>
            {heading('attempts', 'attempts')}
            {heading('cost', 'cost')}
            {heading('time', 'took')}
            {heading('newest', 'created')}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {jobs.map((job) => (
            <tr key={job.id} className="h-8 hover:bg-raised">
              <td className="text-center">
                <input
                  type="checkbox"
                  aria-label={`Choose ${shorten(job.prompt, 60)}`}
                  checked={chosen.has(job.id)}
                  onChange={() => toggle(job.id)}
                />
              </td>
              <td className="px-2">
                <StateWord standing={standingOfJob(job)}>
                  {job.attention && job.state === 'paused' ? job.attention : job.state}
                </StateWord>
              </td>
              <td className="w-full max-w-0 min-w-48 px-2">
                <Link
                  to="/jobs/$id"
                  params={{ id: job.id }}
                  data-row
                  className="block truncate font-medium hover:underline"
                  title={job.prompt.slice(0, 500)}
                >
                  {inert(job.prompt).slice(0, 200)}
                </Link>
              </td>
              <td className="px-2 whitespace-nowrap text-muted max-md:hidden">
                {job.agent} {job.model ?? ''}
              </td>
              <td className="px-2 text-muted max-lg:hidden" title={job.workDir}>
                {shorten(fileName(job.workDir), 24)}
              </td>
              <td className="px-2 text-right">{job.attemptCount}</td>
              <td className="px-2 text-right">{formatCost(job.spent.usd, job.costEstimated)}</td>
              <td className="px-2 text-right text-muted">
                {job.progress.elapsedMs === null ? '–' : formatSpan(job.progress.elapsedMs)}
              </td>
              <td className="px-2 text-right whitespace-nowrap text-muted">
                <Ago at={job.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
