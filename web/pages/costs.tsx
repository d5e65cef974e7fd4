/** Shows costs by day, and by agent, model, tier and purpose, with the numbers behind the picture. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Job } from '../../src/contract/job.ts'
import type { CostRow } from '../../src/contract/overview.ts'
import { oneOf, useAddress } from '../data/address.ts'
import { useTitle } from '../data/hooks.ts'
import { costsQuery, jobsQuery, overviewQuery } from '../data/queries.ts'
import { formatCost, formatCount, formatPercent, formatSaved, formatTokens } from '../format/amounts.ts'
import { shorten } from '../format/text.ts'
import { formatDay } from '../format/time.ts'
import { tierName } from '../format/words.ts'
import { Empty, ErrorBox, PageTitle, Section, Skeleton } from '../parts/base.tsx'
import { Bars } from '../parts/chart.tsx'
import { Page } from '../parts/frame.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Tabs } from '../parts/tabs.tsx'

const SPANS = [
  { name: '7', word: '7 days' },
  { name: '30', word: '30 days' },
  { name: '90', word: '90 days' },
] as const

function daysAgo(days: number): Date {
  const date = new Date()
  date.setHours(0, 0, 0, 0)
  date.setDate(date.getDate() - days)
  return date
}

interface Sum {
  runs: number
  failed: number
  cost: number
  saved: number
  read: number
  paid: number
  output: number
}
const NOTHING: Sum = { runs: 0, failed: 0, cost: 0, saved: 0, read: 0, paid: 0, output: 0 }

const add = (sum: Sum, row: CostRow): Sum => ({
  runs: sum.runs + row.runs,
  failed: sum.failed + row.failed,
  cost: sum.cost + row.costUsd,
  saved: sum.saved + row.savedUsd,
  read: sum.read + row.usage.cacheReadTokens,
  paid: sum.paid + row.usage.inputTokens + row.usage.cacheWriteTokens,
  output: sum.output + row.usage.outputTokens,
})

function sumBy(rows: readonly CostRow[], keyOf: (row: CostRow) => string): { key: string; sum: Sum }[] {
  const sums = new Map<string, Sum>()
  for (const row of rows) sums.set(keyOf(row), add(sums.get(keyOf(row)) ?? NOTHING, row))
  return [...sums].map(([key, sum]) => ({ key, sum })).sort((a, b) => b.sum.cost - a.sum.cost)
}

const PURPOSE_WORDS = {
  job: 'jobs',
  conversation: 'conversations',
  watch: 'watches',
  run: 'single runs',
} as const
type What = 'cost' | 'tokens'
const WHATS = [
  { name: 'cost', word: 'Cost' },
  { name: 'tokens', word: 'Cached and other input' },
] as const

const PURPOSES = ['job', 'conversation', 'watch', 'run'] as const
/** The parts of a bar, from the bottom to the top. */
const SERIES: Readonly<Record<What, readonly { name: string; of: (row: CostRow) => number }[]>> = {
  cost: PURPOSES.map((purpose) => ({
    name: PURPOSE_WORDS[purpose],
    of: (row) => (row.purpose === purpose ? row.costUsd : 0),
  })),
  tokens: [
    { name: 'read from the cache', of: ({ usage }) => usage.cacheReadTokens },
    { name: 'written into the cache', of: ({ usage }) => usage.cacheWriteTokens },
    { name: 'not cached', of: ({ usage }) => usage.inputTokens },
  ],
}
// Shades of one colour: the others mean states.
const COLOURS = ['fill-accent', 'fill-accent/60', 'fill-accent/30', 'fill-muted/40']
const DOTS = ['bg-accent', 'bg-accent/60', 'bg-accent/30', 'bg-muted/40']

export function Costs() {
  useTitle('Costs')
  const [{ days, show }, change] = useAddress<'days' | 'show'>()
  const span =
    oneOf(
      days,
      SPANS.map(({ name }) => name),
    ) ?? '30'
  const since = useMemo(() => daysAgo(Number(span) - 1).toISOString(), [span])
  const { data, error, refetch } = useQuery(costsQuery(since))
  return (
    <Page>
      <PageTitle
        aside={
          <Tabs label="Period" names={SPANS} current={span} onChange={(name) => change({ days: name })} />
        }
      >
        Costs
      </PageTitle>
      {error ? (
        <ErrorBox error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={5} height={56} />
      ) : data.length === 0 ? (
        <Empty command='reprise run "Say hello"'>
          Nothing has ended in this time. A run costs something:
        </Empty>
      ) : (
        <Shown
          rows={data}
          days={Number(span)}
          what={oneOf(show, ['cost', 'tokens']) ?? 'cost'}
          onShow={(name) => change({ show: name })}
        />
      )}
    </Page>
  )
}

function Shown({
  rows,
  days,
  what,
  onShow,
}: {
  rows: readonly CostRow[]
  days: number
  what: What
  onShow: (what: What) => void
}) {
  const { data: overview } = useQuery(overviewQuery())
  const isSimulated = rows.some(({ agent }) => overview?.simulated.includes(agent))
  const total = rows.reduce(add, NOTHING)
  return (
    <>
      <dl className="mb-6 grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4">
        <Figure
          name={isSimulated ? 'Cost, partly simulated' : 'Cost'}
          value={formatCost(total.cost)}
          note={`${formatCost(total.cost / days)} a day`}
        />
        <Figure
          name={total.saved < 0 ? 'Lost by resuming' : 'Saved by resuming'}
          value={formatSaved(total.saved)}
          note={
            total.saved > 0
              ? `${formatPercent(total.saved / (total.saved + total.cost))} of what transcripts would cost`
              : 'compared with sending transcripts'
          }
        />
        <Figure name="Runs" value={formatCount(total.runs)} note={`${formatCount(total.failed)} failed`} />
        <Figure
          name="Input from the cache"
          value={formatPercent(total.read + total.paid === 0 ? 0 : total.read / (total.read + total.paid))}
          note={`${formatTokens(total.read)} read, ${formatTokens(total.paid)} paid in full, ${formatTokens(total.output)} out`}
        />
      </dl>
      <Section
        title="By day"
        action={<Tabs label="What the chart shows" names={WHATS} current={what} onChange={onShow} />}
      >
        <DayBars rows={rows} days={days} what={what} />
      </Section>
      <div className="grid gap-x-6 lg:grid-cols-2">
        <Breakdown
          title="By model"
          rows={rows}
          keyOf={({ agent, model }) => `${agent} · ${model ?? 'default'}`}
        />
        <Breakdown title="By purpose" rows={rows} keyOf={({ purpose }) => PURPOSE_WORDS[purpose]} />
        <Breakdown
          title="By tier"
          rows={rows.filter(({ tier }) => tier !== null)}
          keyOf={({ tier }) => tierName(tier ?? 0)}
        />
        <Breakdown title="By agent" rows={rows} keyOf={({ agent }) => agent} />
      </div>
      <DearestJobs />
    </>
  )
}

function Figure({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div className="bg-surface px-3 py-2.5">
      <dt className="text-label text-muted">{name}</dt>
      <dd className="text-large leading-tight font-semibold">{value}</dd>
      <dd className="text-label text-muted">{note}</dd>
    </div>
  )
}

function DayBars({ rows, days, what }: { rows: readonly CostRow[]; days: number; what: What }) {
  const byDay = Map.groupBy(rows, ({ at }) => new Date(at).toDateString())
  const series = SERIES[what]
  const format = what === 'cost' ? formatCost : formatTokens
  const bars = Array.from({ length: days }, (_, index) => {
    const day = daysAgo(days - 1 - index)
    const ofDay = byDay.get(day.toDateString()) ?? []
    const parts = series.map(({ name, of }, at) => ({
      name,
      value: ofDay.reduce((sum, row) => sum + of(row), 0),
      colour: COLOURS[at] ?? 'fill-muted/40',
    }))
    const sum = ofDay.reduce(add, NOTHING)
    const detail = parts.filter(({ value }) => value > 0).map(({ name, value }) => `${name} ${format(value)}`)
    return {
      label: formatDay(day),
      title: [`${formatDay(day)}: ${formatCost(sum.cost)}, ${sum.runs} runs`, ...detail].join('\n'),
      parts,
    }
  })
  const every = Math.ceil(days / 8)
  return (
    <div className="rounded-lg border border-line bg-surface py-3 pr-5 pl-3">
      <p className="mb-2 flex flex-wrap gap-x-4 pr-14 text-label text-muted">
        {series.map(({ name }, at) => (
          <span key={name} className="flex items-center gap-1.5">
            <span className={`size-2 rounded-sm ${DOTS[at]}`} /> {name}
          </span>
        ))}
      </p>
      <Bars
        bars={bars}
        height={140}
        tick={(index) => (days - 1 - index) % every === 0}
        caption={what === 'cost' ? 'Cost by day' : 'Tokens by day'}
        format={format}
        scale
        numbers
      />
    </div>
  )
}

function Breakdown({
  title,
  rows,
  keyOf,
}: {
  title: string
  rows: readonly CostRow[]
  keyOf: (row: CostRow) => string
}) {
  const sums = sumBy(rows, keyOf)
  if (sums.length === 0) return null
  const most = Math.max(...sums.map(({ sum }) => sum.cost), 1e-9)
  const columns: readonly Column<(typeof sums)[number]>[] = [
    {
      name: 'what',
      heading: <span className="sr-only">what</span>,
      header: true,
      cell: ({ key, sum }) => (
        <>
          <span
            aria-hidden="true"
            className="absolute inset-y-1 left-1 rounded-sm bg-accent-soft"
            style={{ width: `calc(${(sum.cost / most) * 100}% - 8px)` }}
          />
          <span className="relative">{key}</span>
        </>
      ),
    },
    { name: 'runs', right: true, cell: ({ sum }) => formatCount(sum.runs) },
    {
      name: 'failed',
      right: true,
      cell: ({ sum }) => (
        <span className={sum.failed > 0 ? 'text-fail' : 'text-muted'}>{formatCount(sum.failed)}</span>
      ),
    },
    {
      name: 'cached',
      right: true,
      muted: true,
      cell: ({ sum }) => (sum.read + sum.paid === 0 ? '–' : formatPercent(sum.read / (sum.read + sum.paid))),
    },
    { name: 'saved', right: true, muted: true, from: 'sm', cell: ({ sum }) => formatCost(sum.saved) },
    { name: 'cost', right: true, cell: ({ sum }) => formatCost(sum.cost) },
  ]
  return (
    <Section title={title}>
      <Table label={title} columns={columns} rows={sums} keyOf={({ key }) => key} />
    </Section>
  )
}

const MOST_JOBS = 10

/** The dearest jobs of all time; the whole list is on the page of jobs. */
function DearestJobs() {
  const { data } = useInfiniteQuery(jobsQuery({ sort: 'cost' }))
  const jobs = (data?.pages[0]?.items ?? []).filter(({ spent }) => spent.usd > 0).slice(0, MOST_JOBS)
  if (jobs.length === 0) return null
  return (
    <Section
      title="Dearest jobs"
      action={
        <Link
          to="/jobs"
          search={{ sort: 'cost' } as never}
          className="text-small text-accent hover:underline"
        >
          All jobs by cost
        </Link>
      }
    >
      <Table label="Dearest jobs" columns={JOB_COLUMNS} rows={jobs} keyOf={({ id }) => id} />
    </Section>
  )
}

const JOB_COLUMNS: readonly Column<Job>[] = [
  {
    name: 'job',
    wide: true,
    cell: (job) => (
      <Link to="/jobs/$id" params={{ id: job.id }} data-row className="font-medium hover:underline">
        {shorten(job.prompt, 90)}
      </Link>
    ),
  },
  { name: 'attempts', right: true, from: 'sm', cell: ({ attemptCount }) => attemptCount },
  { name: 'tokens', right: true, muted: true, cell: ({ spent }) => formatTokens(spent.tokens) },
  { name: 'cost', right: true, cell: ({ spent, costEstimated }) => formatCost(spent.usd, costEstimated) },
]
