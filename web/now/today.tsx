/** How today went: figures, cost by hour, and failures by cause. */
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { CostRow, Failure } from '../../src/contract/overview.ts'
import { client } from '../data/client.ts'
import { formatCost, formatCount, formatPercent, formatSaved, formatTokens } from '../format/amounts.ts'
import { shorten } from '../format/text.ts'
import { OUTCOME_WORDS } from '../format/words.ts'
import { useAct } from '../parts/act.ts'
import { Button, ErrorBox, Mark, Rows, Section } from '../parts/base.tsx'
import { HourBars } from '../parts/chart.tsx'
import { Ago } from '../parts/clock.tsx'
import { SubjectLink } from '../parts/subject.tsx'

export function Today({
  costs,
  failures,
  simulated,
}: {
  costs: readonly CostRow[]
  failures: readonly Failure[]
  simulated: readonly string[]
}) {
  const sum = (of: (row: CostRow) => number) => costs.reduce((total, row) => total + of(row), 0)
  const [runs, failed, cancelled] = [sum((r) => r.runs), sum((r) => r.failed), sum((r) => r.cancelled)]
  const cost = sum((r) => r.costUsd)
  const saved = sum((r) => r.savedUsd)
  const read = sum((r) => r.usage.cacheReadTokens)
  const paid = sum((r) => r.usage.inputTokens + r.usage.cacheWriteTokens)
  const output = sum((r) => r.usage.outputTokens)
  const isSimulated = costs.some(({ agent }) => simulated.includes(agent))
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
            <Figure
              name={isSimulated ? 'Cost, simulated' : 'Cost'}
              value={formatCost(cost)}
              title={costsInWords(costs)}
            >
              {topAgents(costs)}
            </Figure>
            <Figure name={saved < 0 ? 'Lost by resuming' : 'Saved by resuming'} value={formatSaved(saved)}>
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
              <FailureGroup key={group[0]?.runId} group={group} />
            ))}
          </Rows>
        </Section>
      )}
    </>
  )
}

function Figure({
  name,
  value,
  title,
  children,
}: {
  name: string
  value: string
  title?: string
  children: ReactNode
}) {
  return (
    <div className="bg-surface px-3 py-2.5" title={title}>
      <dt className="text-label text-muted">{name}</dt>
      <dd className="text-large leading-tight font-semibold">{value}</dd>
      <dd className="truncate text-label text-muted">{children}</dd>
    </div>
  )
}

/** By agent, model and tier, the dearest first. */
function costsByWho(costs: readonly CostRow[]): { who: string; usd: number; tokens: number }[] {
  const sums = new Map<string, { usd: number; tokens: number }>()
  for (const { agent, model, tier, costUsd, usage } of costs) {
    const who = [agent, model, tier === null ? null : `tier ${tier}`]
      .filter((part) => part !== null)
      .join(' ')
    const sum = sums.get(who) ?? { usd: 0, tokens: 0 }
    sum.usd += costUsd
    sum.tokens += usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens
    sums.set(who, sum)
  }
  return [...sums].map(([who, sum]) => ({ who, ...sum })).sort((a, b) => b.usd - a.usd)
}

const topAgents = (costs: readonly CostRow[]) =>
  costsByWho(costs)
    .slice(0, 2)
    .map(({ who, usd }) => `${who} ${formatCost(usd)}`)
    .join(' · ')

const costsInWords = (costs: readonly CostRow[]) =>
  costsByWho(costs)
    .map(({ who, usd, tokens }) => `${who}: ${formatCost(usd)}, ${formatTokens(tokens)} tokens`)
    .join('\n')

/** Failures with the same cause and message are one group, the newest first. */
function groupFailures(failures: readonly Failure[]): Failure[][] {
  const causeOf = ({ outcome, message }: Failure) =>
    `${outcome}/${(message ?? '').replaceAll(/\d+/g, '#').slice(0, 80)}`
  return [...Map.groupBy(failures, causeOf).values()]
}

function FailureGroup({ group }: { group: readonly Failure[] }) {
  const act = useAct()
  const [open, setOpen] = useState(false)
  const [newest, ...others] = group
  const jobs = [...new Set(group.flatMap(({ jobId }) => jobId ?? []))]
  if (!newest) return null
  return (
    <li className="px-3 py-1.5">
      <div className="flex min-h-7 items-center gap-x-3 max-md:flex-wrap">
        <Mark standing="fail" />
        <span className="flex w-96 min-w-0 shrink-0 max-xl:w-72 max-md:w-auto max-md:flex-1">
          <SubjectLink subject={newest.subject} />
        </span>
        <span
          className="min-w-0 flex-1 truncate text-muted max-md:order-last max-md:basis-full"
          title={newest.message ?? undefined}
        >
          <span className="text-fail">{OUTCOME_WORDS[newest.outcome]}</span>{' '}
          {newest.message && shorten(newest.message, 100)}
        </span>
        {others.length > 0 && (
          <Button kind="bare" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Hide' : '+'} {formatCount(others.length)} alike
          </Button>
        )}
        <Ago at={newest.at} className="text-muted" />
        {jobs.length > 0 && (
          <Button
            busy={act.busy}
            onClick={() => void act.run(() => Promise.all(jobs.map((id) => client.retryJob(id))))}
          >
            Retry {jobs.length > 1 ? formatCount(jobs.length) : ''}
          </Button>
        )}
      </div>
      {open && (
        <ul className="pb-1 pl-7">
          {others.map((failure) => (
            <li key={failure.runId} className="flex gap-3 py-0.5">
              <SubjectLink subject={failure.subject} />
              <Ago at={failure.at} className="text-muted" />
            </li>
          ))}
        </ul>
      )}
      {act.error !== null && <ErrorBox error={act.error} />}
    </li>
  )
}
