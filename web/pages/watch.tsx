/** One watch: what it checks, and its cycles. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Cycle } from '../../src/contract/cycle.ts'
import type { Watch } from '../../src/contract/watch.ts'
import { useTitle } from '../data/hooks.ts'
import { cyclesQuery, watchQuery } from '../data/queries.ts'
import { formatCost } from '../format/amounts.ts'
import { inert, shorten } from '../format/text.ts'
import { formatClock, formatExact, formatSpan } from '../format/time.ts'
import { Audit } from '../parts/audit.tsx'
import { Empty, ErrorBox, Fact, Middle, PageTitle, Section, Skeleton, StateWord } from '../parts/base.tsx'
import { Ago, Elapsed } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { SteadyRows } from '../parts/list.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { WatchActions } from '../watch/actions.tsx'
import { STATUS_STANDING, standingOfCycle, TRIGGER_WORDS, wordOfCycle } from '../watch/words.ts'
import { Prompt } from './run.tsx'

const keyOf = ({ id }: Cycle) => id as string

export function WatchPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { data: watch, error, refetch } = useQuery(watchQuery(id))
  const { data: cycles } = useQuery(cyclesQuery(id, 100))
  useTitle(watch ? watch.name : 'Watch')
  if (error && !watch) {
    return (
      <Page>
        <ErrorBox error={error} retry={() => void refetch()} />
      </Page>
    )
  }
  if (!watch) {
    return (
      <Page>
        <Skeleton rows={6} />
      </Page>
    )
  }
  return (
    <Page>
      <PageTitle aside={<WatchActions watch={watch} whole />}>
        {watch.name}{' '}
        <span className="text-base font-normal text-muted">{watch.schedule ?? 'when it is triggered'}</span>
      </PageTitle>
      <div className="flex gap-8 max-lg:flex-col">
        <aside className="w-80 shrink-0 max-lg:w-auto">
          <Facts watch={watch} />
          <Prompt text={watch.prompt} />
          <Audit subject={watch.id} />
        </aside>
        <div className="min-w-0 flex-1">
          <Section title="Cycles" count={watch.cycles}>
            {!cycles ? (
              <Skeleton rows={6} height={32} />
            ) : cycles.length === 0 ? (
              <Empty command={`reprise watch trigger ${watch.name}`}>It has not run yet. Start it now:</Empty>
            ) : (
              <SteadyRows rows={cycles} keyOf={keyOf} order="">
                {(rows) => <Table label="Cycles" columns={COLUMNS} rows={rows} keyOf={keyOf} />}
              </SteadyRows>
            )}
          </Section>
        </div>
      </div>
    </Page>
  )
}

function Facts({ watch }: { watch: Watch }) {
  return (
    <dl>
      <Fact name="state">{watch.state}</Fact>
      <Fact name="next">
        {watch.nextAt && watch.state === 'active' ? (
          <span title={formatExact(watch.nextAt)}>
            {formatClock(watch.nextAt)}, <Ago at={watch.nextAt} />
          </span>
        ) : (
          'not by itself'
        )}
      </Fact>
      <Fact name="highest tier">{watch.maxTier ?? 'as configured'}</Fact>
      <Fact name="memory">
        {watch.memory === 'fresh' ? 'a new session each time' : 'one session that continues'}
      </Fact>
      <Fact name="overlap">{watch.overlap}</Fact>
      {watch.maxBudgetUsd !== undefined && (
        <Fact name="budget">{formatCost(watch.maxBudgetUsd)} per cycle</Fact>
      )}
      {watch.maxBudgetUsdPerDay !== undefined && (
        <Fact name="per day">{formatCost(watch.maxBudgetUsdPerDay)}</Fact>
      )}
      {watch.maxDurationMs !== undefined && (
        <Fact name="duration">at most {formatSpan(watch.maxDurationMs)}</Fact>
      )}
      <Fact name="directory">
        <Middle text={watch.workDir} max={40} mono />
      </Fact>
      <Fact name="events">{watch.hasHookSecret ? 'with its own secret' : 'with a token'}</Fact>
      <Fact name="defined in">{watch.source === 'config' ? 'the configuration' : 'Reprise'}</Fact>
    </dl>
  )
}

const COLUMNS: readonly Column<Cycle>[] = [
  {
    name: '#',
    cell: (cycle) => (
      <Link to="/cycles/$id" params={{ id: cycle.id }} data-row className="font-medium hover:underline">
        {cycle.number}
      </Link>
    ),
  },
  {
    name: 'outcome',
    cell: (cycle) => (
      <StateWord standing={cycle.status ? STATUS_STANDING[cycle.status] : standingOfCycle(cycle)}>
        {cycle.status ?? wordOfCycle(cycle)}
      </StateWord>
    ),
  },
  {
    name: 'summary',
    wide: true,
    muted: true,
    cell: ({ summary, message, takenBy }) => {
      const text = summary ?? message ?? ''
      const shown = <span title={inert(text)}>{shorten(text, 120)}</span>
      if (takenBy === null) return shown
      return (
        <Link to="/cycles/$id" params={{ id: takenBy }} className="hover:underline">
          {shown}
        </Link>
      )
    },
  },
  {
    name: 'started by',
    muted: true,
    from: 'md',
    cell: ({ trigger }) => <span className="whitespace-nowrap">{TRIGGER_WORDS[trigger].split(',')[0]}</span>,
  },
  { name: 'tier', right: true, cell: ({ tier }) => tier ?? '–' },
  {
    name: 'took',
    right: true,
    muted: true,
    from: 'sm',
    cell: ({ startedAt, endedAt }) => (startedAt ? <Elapsed from={startedAt} to={endedAt} /> : '–'),
  },
  { name: 'cost', right: true, cell: ({ costUsd, costEstimated }) => formatCost(costUsd, costEstimated) },
  { name: 'when', right: true, muted: true, cell: ({ startedAt, dueAt }) => <Ago at={startedAt ?? dueAt} /> },
]
