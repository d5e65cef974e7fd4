/** How today went: figures, cost by hour, and failures by cause. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CostRow, Failure } from '../../src/contract/overview.ts'
import { client } from '../data/client.ts'
import { formatCost, formatCount, formatPercent, formatTokens } from '../format/amounts.ts'
import { shorten } from '../format/text.ts'
import { modelName, OUTCOME_WORDS } from '../format/words.ts'
import { useAct } from '../parts/act.ts'
import { Badge, Button, ErrorBox, Mark, Rows, Section } from '../parts/base.tsx'
import { HourBars } from '../parts/chart.tsx'
import { Ago } from '../parts/clock.tsx'
import { SubjectLink } from '../parts/subject.tsx'

export function Today({ costs, failures }: { costs: readonly CostRow[]; failures: readonly Failure[] }) {
  const sum = (of: (row: CostRow) => number) => costs.reduce((total, row) => total + of(row), 0)
  const [runs, failed, cancelled] = [sum((r) => r.runs), sum((r) => r.failed), sum((r) => r.cancelled)]
  const cost = sum((r) => r.costUsd)
  const saved = sum((r) => r.savedUsd)
  const read = sum((r) => r.usage.cacheReadTokens)
  const paid = sum((r) => r.usage.inputTokens + r.usage.cacheWriteTokens)
  const output = sum((r) => r.usage.outputTokens)
  return (
    <>
      <Section
        title="Today"
        action={
          <Link to="/costs" className="text-small text-accent hover:underline">
            All costs
          </Link>
        }
      >
        <div className="rounded-lg border border-line bg-surface">
          <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-t-lg bg-line sm:grid-cols-4">
            <Figure name="Runs" value={formatCount(runs)}>
              {formatCount(runs - failed - cancelled)} done · {formatCount(failed)} failed ·{' '}
              {formatCount(cancelled)} cancelled
            </Figure>
            <Figure name="Cost" value={formatCost(cost)}>
              {topAgents(costs)}
            </Figure>
            <Figure
              name={saved < 0 ? 'Lost by resuming' : 'Saved by resuming'}
              value={`≈ ${formatCost(Math.abs(saved))}`}
            >
              {saved > 0
                ? `${formatPercent(saved / (saved + cost))} less than sending transcripts`
                : saved < 0
                  ? 'more than sending transcripts'
                  : 'nothing was resumed'}
            </Figure>
            <Figure name="Tokens" value={formatTokens(read + paid + output)}>
              {formatPercent(read + paid === 0 ? 0 : read / (read + paid))} of the input from the cache
            </Figure>
          </dl>
          <div className="px-3 py-2">
            <HourBars rows={costs} />
          </div>
        </div>
      </Section>
      {failures.length > 0 && (
        <Section title="Failed today" count={failures.length}>
          <Rows label="Failed today">
            {groupFailures(failures).map((group) => (
              <FailureRow key={group.newest.runId} group={group} />
            ))}
          </Rows>
        </Section>
      )}
    </>
  )
}

function Figure({ name, value, children }: { name: string; value: string; children: ReactNode }) {
  return (
    <div className="bg-surface px-3 py-2.5">
      <dt className="text-label text-muted">{name}</dt>
      <dd className="text-large leading-tight font-semibold">{value}</dd>
      <dd className="truncate text-label text-muted">{children}</dd>
    </div>
  )
}

function topAgents(costs: readonly CostRow[]): string {
  const byAgent = new Map<string, number>()
  for (const { agent, model, costUsd } of costs) {
    const name = model ? `${agent} ${model}` : agent
    byAgent.set(name, (byAgent.get(name) ?? 0) + costUsd)
  }
  const top = [...byAgent].sort((a, b) => b[1] - a[1]).slice(0, 2)
  return top.map(([name, usd]) => `${name} ${formatCost(usd)}`).join(' · ') || modelName(null)
}

interface FailureGroup {
  newest: Failure
  others: number
}

/** Failures with the same cause and message are one row. */
function groupFailures(failures: readonly Failure[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>()
  for (const failure of failures) {
    const key = `${failure.outcome}/${(failure.message ?? '').replaceAll(/\d+/g, '#').slice(0, 80)}`
    const known = groups.get(key)
    if (known) known.others++
    else groups.set(key, { newest: failure, others: 0 })
  }
  return [...groups.values()]
}

function FailureRow({ group: { newest, others } }: { group: FailureGroup }) {
  const act = useAct()
  const { jobId } = newest
  return (
    <li className="px-3 py-1.5">
      <div className="flex min-h-7 items-center gap-x-3 max-md:flex-wrap">
        <Mark standing="fail" />
        <span className="flex w-72 min-w-0 shrink-0 max-md:w-auto max-md:flex-1">
          <SubjectLink subject={newest.subject} />
        </span>
        <span
          className="min-w-0 flex-1 truncate text-muted max-md:order-last max-md:basis-full"
          title={newest.message ?? undefined}
        >
          <span className="text-fail">{OUTCOME_WORDS[newest.outcome]}</span>{' '}
          {newest.message && shorten(newest.message, 100)}
        </span>
        {others > 0 && <Badge>+ {others} alike</Badge>}
        <Ago at={newest.at} className="text-muted" />
        {jobId && (
          <Button busy={act.busy} onClick={() => void act.run(() => client.retryJob(jobId))}>
            Retry
          </Button>
        )}
      </div>
      {act.error !== null && <ErrorBox error={act.error} />}
    </li>
  )
}
