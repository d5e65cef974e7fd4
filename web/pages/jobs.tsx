/** All jobs: filtered, searched and sorted by the daemon as the address says, with several at once cancelled or retried. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import type { Job, JobFilters, JobSort, JobState } from '../../src/contract/job.ts'
import { oneOf, useAddress } from '../data/address.ts'
import { useTitle } from '../data/hooks.ts'
import { jobsQuery, listAllJobs } from '../data/queries.ts'
import { formatCost } from '../format/amounts.ts'
import { fileName, inert, shorten } from '../format/text.ts'
import { formatSpan } from '../format/time.ts'
import { standingOfJob, wordOfJob } from '../format/words.ts'
import { Bulk } from '../jobs/bulk.tsx'
import { Empty, ErrorBox, PageTitle, Skeleton, StateWord } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { SearchField, ShowMore, SteadyRows, useSettled } from '../parts/list.tsx'
import { type Column, Table } from '../parts/table.tsx'

const FILTERS: readonly { state?: JobState; word: string }[] = [
  { word: 'All' },
  { state: 'running', word: 'At work' },
  { state: 'paused', word: 'Needs you' },
  { state: 'waiting', word: 'Waiting' },
  { state: 'queued', word: 'Queued' },
  { state: 'failed', word: 'Failed' },
  { state: 'completed', word: 'Completed' },
  { state: 'cancelled', word: 'Cancelled' },
]
const STATES = FILTERS.flatMap(({ state }) => state ?? [])
const SORTS: readonly JobSort[] = ['newest', 'oldest', 'cost', 'time', 'attempts']
const keyOf = ({ id }: Job) => id as string

export function Jobs() {
  useTitle('Jobs')
  const [address, change] = useAddress<'state' | 'q' | 'sort'>()
  const q = useSettled(address.q ?? '')
  const filters: JobFilters = useMemo(
    () => ({ state: oneOf(address.state, STATES), q, sort: oneOf(address.sort, SORTS) }),
    [address.state, address.sort, q],
  )
  const { data, error, refetch, ...pages } = useInfiniteQuery(jobsQuery(filters))
  const [chosen, setChosen] = useState<ReadonlyMap<string, Job>>(new Map())
  const jobs = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  const known = useMemo(() => new Map(jobs.map((job) => [keyOf(job), job])), [jobs])
  // States change while rows are chosen: what is loaded is newer than what was chosen.
  const chosenJobs = [...chosen].map(([id, job]) => known.get(id) ?? job)
  const choose = (some: readonly Job[], wanted: boolean) => {
    const next = new Map(chosen)
    for (const job of some) wanted ? next.set(job.id, job) : next.delete(job.id)
    setChosen(next)
  }
  const isFiltered = filters.state !== undefined || q !== ''
  const all = jobs.length > 0 && jobs.every(({ id }) => chosen.has(id))
  return (
    <Page>
      <PageTitle
        aside={
          <SearchField label="Search jobs" value={address.q ?? ''} onChange={(text) => change({ q: text })} />
        }
      >
        Jobs
      </PageTitle>
      <nav className="mb-3 flex flex-wrap items-center gap-1" aria-label="Filter by state">
        {FILTERS.map(({ state, word }) => (
          <Link
            key={word}
            to="/jobs"
            search={{ ...address, state } as never}
            data-current={filters.state === state || undefined}
            aria-current={filters.state === state ? 'true' : undefined}
            className="rounded-md px-2.5 py-1 text-small text-muted hover:bg-raised data-current:bg-raised data-current:font-medium data-current:text-text max-sm:py-2"
          >
            {word}
          </Link>
        ))}
      </nav>
      <Bulk
        chosen={chosenJobs}
        onAll={
          pages.hasNextPage
            ? async () => setChosen(new Map((await listAllJobs(filters)).map((job) => [job.id, job])))
            : all
              ? null
              : async () => choose(jobs, true)
        }
        onDone={() => setChosen(new Map())}
      />
      {error ? (
        <ErrorBox error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={8} height={32} />
      ) : jobs.length === 0 ? (
        <Empty
          {...(isFiltered
            ? {}
            : { command: 'reprise run "Update the dependencies and make the tests pass"' })}
        >
          {isFiltered
            ? 'No job is like this.'
            : 'There are no jobs yet. A job is a prompt to finish unattended:'}
        </Empty>
      ) : (
        <SteadyRows rows={jobs} keyOf={keyOf} order={JSON.stringify(filters)}>
          {(rows) => (
            <Table
              label="Jobs"
              columns={columnsOf({
                isChosen: ({ id }) => chosen.has(id),
                choose,
                all,
                onAll: (wanted) => choose(jobs, wanted),
                sort: filters.sort ?? 'newest',
                onSort: (sort) => change({ sort }),
              })}
              rows={rows}
              keyOf={keyOf}
            />
          )}
        </SteadyRows>
      )}
      <ShowMore pages={pages} />
    </Page>
  )
}

interface Choosing {
  isChosen: (job: Job) => boolean
  choose: (some: readonly Job[], wanted: boolean) => void
  all: boolean
  onAll: (wanted: boolean) => void
  sort: JobSort
  onSort: (sort: JobSort) => void
}

function columnsOf({ isChosen, choose, all, onAll, sort, onSort }: Choosing): Column<Job>[] {
  const sorted = (name: JobSort, word: string): Pick<Column<Job>, 'heading' | 'sorted' | 'right'> => {
    const isOldest = name === 'newest' && sort === 'oldest'
    const current = sort === name || isOldest
    const heading: ReactNode = (
      <button
        type="button"
        onClick={() => onSort(name === 'newest' && sort === 'newest' ? 'oldest' : name)}
        className={current ? 'text-text' : 'hover:text-text'}
      >
        {word}
        {current ? (isOldest ? ' ↑' : ' ↓') : ''}
      </button>
    )
    return { heading, sorted: current ? (isOldest ? 'ascending' : 'descending') : 'none', right: true }
  }
  return [
    {
      name: 'choose',
      heading: (
        <input
          type="checkbox"
          className="block"
          aria-label="Choose all that are shown"
          checked={all}
          onChange={(event) => onAll(event.target.checked)}
        />
      ),
      cell: (job) => (
        <input
          type="checkbox"
          className="block"
          aria-label={`Choose ${shorten(job.prompt, 60)}`}
          checked={isChosen(job)}
          onChange={(event) => choose([job], event.target.checked)}
        />
      ),
    },
    {
      name: 'state',
      cell: (job) => <StateWord standing={standingOfJob(job)}>{wordOfJob(job)}</StateWord>,
    },
    {
      name: 'prompt',
      wide: true,
      cell: (job) => (
        <Link
          to="/jobs/$id"
          params={{ id: job.id }}
          data-row
          className="font-medium hover:underline max-sm:line-clamp-2 sm:block sm:truncate"
          title={job.prompt.slice(0, 500)}
        >
          {inert(job.prompt).slice(0, 200)}
        </Link>
      ),
    },
    {
      name: 'agent',
      from: 'md',
      muted: true,
      cell: (job) => <span className="whitespace-nowrap">{`${job.agent} ${job.model ?? ''}`}</span>,
    },
    {
      name: 'directory',
      from: 'lg',
      muted: true,
      cell: (job) => <span title={job.workDir}>{shorten(fileName(job.workDir), 24)}</span>,
    },
    { name: 'attempts', ...sorted('attempts', 'attempts'), from: 'sm', cell: (job) => job.attemptCount },
    { name: 'cost', ...sorted('cost', 'cost'), cell: (job) => formatCost(job.spent.usd, job.costEstimated) },
    {
      name: 'took',
      ...sorted('time', 'took'),
      muted: true,
      from: 'sm',
      cell: ({ progress: { elapsedMs } }) => (elapsedMs === null ? '–' : formatSpan(elapsedMs)),
    },
    {
      name: 'created',
      ...sorted('newest', 'created'),
      muted: true,
      from: 'sm',
      cell: (job) => <Ago at={job.createdAt} />,
    },
  ]
}
