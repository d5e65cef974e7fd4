/** Shows costs by day, and by agent, model, tier and purpose, with the numbers behind the picture. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { CostRow } from '../../src/contract/overview.ts'
import { useTitle } from '../data/hooks.ts'
import { costsQuery } from '../data/queries.ts'
import { formatCost, formatCount, formatPercent, formatTokens } from '../format/amounts.ts'
import { formatDay } from '../format/time.ts'
import { tierName } from '../format/words.ts'
import { Empty, ErrorBox, PageTitle, Section, Skeleton } from '../parts/base.tsx'
import { Bars } from '../parts/chart.tsx'
import { Page } from '../parts/frame.tsx'
import { Tabs } from '../parts/tabs.tsx'

const SPANS = [
  { name: '7', word: '7 days' },
  { name: '30', word: '30 days' },
  { name: '90', word: '90 days' },
] as const
type Span = (typeof SPANS)[number]['name']

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
const COLOURS = ['fill-accent', 'fill-ok', 'fill-wait', 'fill-muted']
const DOTS = ['bg-accent', 'bg-ok', 'bg-wait', 'bg-muted']

export function Costs() {
  useTitle('Costs')
  const [span, setSpan] = useState<Span>('30')
  const since = useMemo(() => daysAgo(Number(span) - 1).toISOString(), [span])
  const { data, error, refetch } = useQuery(costsQuery(since))
  return (
    <Page wide>
      <PageTitle aside={<Tabs label="Period" names={SPANS} current={span} onChange={setSpan} />}>
        Costs
      </PageTitle>
      {error ? (
        <ErrorBox error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={5} height={56} />
      ) : data.length === 0 ? (
        <Empty>Nothing has ended in this time.</Empty>
      ) : (
        <Shown rows={data} days={Number(span)} />
      )}
    </Page>
  )
}

function Shown({ rows, days }: { rows: readonly CostRow[]; days: number }) {
  const total = rows.reduce(add, NOTHING)
  return (
    <>
      <dl className="mb-6 grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4">
        <Figure name="Cost" value={formatCost(total.cost)} note={`${formatCost(total.cost / days)} a day`} />
        <Figure
          name={total.saved < 0 ? 'Lost by resuming' : 'Saved by resuming'}
          value={`≈ ${formatCost(Math.abs(total.saved))}`}
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
      <Section title="By day">
        <DayBars rows={rows} days={days} />
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
    </>
  )
}

function Figure({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div className="bg-surface px-3 py-2.5">
      <dt className="text-label text-muted">{name}</dt>
      <dd className="text-large leading-tight font-semibold">{value}</dd>
      <dd className="truncate text-label text-muted" title={note}>
        {note}
      </dd>
    </div>
  )
}

function DayBars({ rows, days }: { rows: readonly CostRow[]; days: number }) {
  const purposes = ['job', 'conversation', 'watch', 'run'] as const
  const byDay = Map.groupBy(rows, ({ at }) => new Date(at).toDateString())
  const bars = Array.from({ length: days }, (_, index) => {
    const day = daysAgo(days - 1 - index)
    const ofDay = byDay.get(day.toDateString()) ?? []
    const parts = purposes.map((purpose, at) => ({
      name: PURPOSE_WORDS[purpose],
      value: ofDay.filter((row) => row.purpose === purpose).reduce((sum, { costUsd }) => sum + costUsd, 0),
      colour: COLOURS[at] ?? 'fill-muted',
    }))
    const sum = ofDay.reduce(add, NOTHING)
    return {
      label: formatDay(day),
      title: `${formatDay(day)}: ${formatCost(sum.cost)}, ${sum.runs} runs`,
      parts,
    }
  })
  const every = Math.ceil(days / 8)
  return (
    <div className="rounded-lg border border-line bg-surface px-3 py-3">
      <p className="mb-2 flex gap-4 text-label text-muted">
        {purposes.map((purpose, at) => (
          <span key={purpose} className="flex items-center gap-1.5">
            <span className={`size-2 rounded-sm ${DOTS[at]}`} /> {PURPOSE_WORDS[purpose]}
          </span>
        ))}
      </p>
      <Bars
        bars={bars}
        height={140}
        tick={(index) => (days - 1 - index) % every === 0}
        caption="Cost by day"
        format={formatCost}
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
  return (
    <Section title={title}>
      <div className="overflow-x-auto rounded-lg border border-line bg-surface">
        <table className="w-full text-small">
          <thead className="text-label text-muted">
            <tr className="h-8 border-b border-line text-right">
              <th scope="col" className="px-3 text-left font-normal">
                <span className="sr-only">what</span>
              </th>
              <th scope="col" className="px-2 font-normal">
                runs
              </th>
              <th scope="col" className="px-2 font-normal">
                failed
              </th>
              <th scope="col" className="px-2 font-normal">
                cached
              </th>
              <th scope="col" className="px-2 font-normal">
                saved
              </th>
              <th scope="col" className="px-3 font-normal">
                cost
              </th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {sums.map(({ key, sum }) => (
              <tr key={key} className="h-8 text-right">
                <th scope="row" className="relative px-3 text-left font-medium">
                  <span
                    aria-hidden="true"
                    className="absolute inset-y-1 left-1 rounded-sm bg-accent-soft"
                    style={{ width: `calc(${(sum.cost / most) * 100}% - 8px)` }}
                  />
                  <span className="relative">{key}</span>
                </th>
                <td className="px-2">{formatCount(sum.runs)}</td>
                <td className={`px-2 ${sum.failed > 0 ? 'text-fail' : 'text-muted'}`}>
                  {formatCount(sum.failed)}
                </td>
                <td className="px-2 text-muted">
                  {sum.read + sum.paid === 0 ? '–' : formatPercent(sum.read / (sum.read + sum.paid))}
                </td>
                <td className="px-2 text-muted">{formatCost(sum.saved)}</td>
                <td className="px-3">{formatCost(sum.cost)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  )
}
