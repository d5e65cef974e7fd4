/** Now: what needs you, what is at work, what waits by itself, and how today went. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { AtWork, CostRow, Failure, NeedsYou, Overview, Parked } from '../../src/contract/overview.ts'
import { client } from '../data/client.ts'
import { useTitle } from '../data/hooks.ts'
import { overviewQuery } from '../data/queries.ts'
import { formatCost, formatCount, formatPercent, formatTokens, plural } from '../format/amounts.ts'
import { inert, shorten } from '../format/text.ts'
import { formatClock, withLocalTimes } from '../format/time.ts'
import { ATTENTION_WORDS, modelName, OUTCOME_WORDS, tierName } from '../format/words.ts'
import { useAct } from '../parts/act.ts'
import { ApprovalForm, Ask } from '../parts/asks.tsx'
import {
  Badge,
  Button,
  ContextGauge,
  Empty,
  ErrorBox,
  Mark,
  Rows,
  Section,
  Skeleton,
} from '../parts/base.tsx'
import { HourBars } from '../parts/chart.tsx'
import { Ago, Elapsed, useNow } from '../parts/clock.tsx'
import { Page } from '../parts/frame.tsx'
import { SubjectLink } from '../parts/subject.tsx'

export function Now() {
  useTitle('Now')
  const { data, error, refetch } = useQuery(overviewQuery())
  if (error && !data) {
    return (
      <Page>
        <ErrorBox error={error} retry={() => void refetch()} />
      </Page>
    )
  }
  return (
    <Page>
      <h1 className="sr-only">Now</h1>
      {data ? <Lists overview={data} /> : <Loading />}
    </Page>
  )
}

function Loading() {
  return (
    <>
      <Section title="Needs you">
        <Skeleton rows={1} height={88} />
      </Section>
      <Section title="At work">
        <Skeleton rows={2} />
      </Section>
      <Section title="Parked">
        <Skeleton rows={2} />
      </Section>
    </>
  )
}

function Lists({ overview }: { overview: Overview }) {
  const { needsYou, atWork, parked, costs, failures } = overview
  const nothing = needsYou.length + atWork.length + parked.length + costs.length === 0
  return (
    <>
      <Section title="Needs you" count={needsYou.length}>
        {needsYou.length === 0 ? (
          <p className="rounded-lg border border-line bg-surface px-3 py-2.5 text-muted">
            <span className="text-ok">✓</span> Nothing needs you.
          </p>
        ) : (
          <Rows label="Needs you">
            {needsYou.map((need) => (
              <NeedRow key={keyOf(need)} need={need} />
            ))}
          </Rows>
        )}
      </Section>
      {nothing && (
        <Empty command='reprise run "Find and fix the flaky test in test/auth"'>
          Nothing has run yet. Give an agent something to do, and watch it here:
        </Empty>
      )}
      {atWork.length > 0 && (
        <Section title="At work" count={atWork.length}>
          <Rows label="At work">
            {atWork.map((run) => (
              <WorkRow key={run.runId} run={run} />
            ))}
          </Rows>
        </Section>
      )}
      {parked.length > 0 && (
        <Section title="Parked" count={parked.length}>
          <Rows label="Parked">
            {parked.map((item) => (
              <ParkedRow key={item.id} item={item} />
            ))}
          </Rows>
        </Section>
      )}
      {!nothing && <Today costs={costs} failures={failures} />}
    </>
  )
}

const keyOf = (need: NeedsYou) =>
  need.kind === 'question' ? `${need.runId}/${need.question.toolUseId}` : need.runId

function NeedRow({ need }: { need: NeedsYou }) {
  return (
    <li className="border-l-2 border-l-ask px-3 py-2.5">
      <div className="mb-1.5 flex items-center gap-x-2 max-sm:flex-wrap">
        <Mark standing="ask" />
        <span className="flex min-w-0 max-sm:basis-4/5">
          <SubjectLink subject={need.subject} />
        </span>
        <span className="whitespace-nowrap text-muted">{needText(need)}</span>
        <span className="ml-auto whitespace-nowrap text-muted">
          waits <Elapsed from={need.since} />
        </span>
      </div>
      <div className="pl-6 max-sm:pl-0">
        {need.kind === 'question' ? (
          <Ask runId={need.runId} ask={need.question} workDir={need.workDir} />
        ) : need.kind === 'approval' ? (
          <ApprovalForm escalation={need.escalation} />
        ) : need.kind === 'job' ? (
          <PausedJob need={need} />
        ) : (
          <PausedRun need={need} />
        )}
      </div>
    </li>
  )
}

function needText(need: NeedsYou): string {
  if (need.kind === 'question')
    return need.question.kind === 'permission' ? `asks to use ${need.question.tool}` : 'asks'
  if (need.kind === 'approval')
    return need.escalation.toTier ? `asks for ${tierName(need.escalation.toTier)}` : 'asks'
  if (need.kind === 'job') return `paused: ${ATTENTION_WORDS[need.attention]}`
  return 'paused'
}

function PausedJob({ need }: { need: Extract<NeedsYou, { kind: 'job' }> }) {
  const act = useAct()
  const [budget, setBudget] = useState('')
  const isBudget = need.attention === 'budget'
  const suggested = ((need.maxBudgetUsd ?? need.spentUsd) * 2).toFixed(2)
  return (
    <div>
      {need.message && <p className="mb-2 text-muted">{withLocalTimes(inert(need.message)).slice(0, 400)}</p>}
      <div className="flex flex-wrap items-center gap-2">
        {isBudget ? (
          <>
            <label className="flex items-center gap-1.5 text-small">
              Budget in $
              <input
                inputMode="decimal"
                value={budget}
                placeholder={suggested}
                onChange={(event) => setBudget(event.target.value)}
                className="w-20 rounded-md border border-line bg-surface px-2 py-1 text-right"
              />
            </label>
            <Button
              kind="main"
              busy={act.busy}
              onClick={() =>
                void act.run(() =>
                  client.updateJob(need.jobId, { maxBudgetUsd: Number(budget || suggested) }),
                )
              }
            >
              Raise and continue
            </Button>
          </>
        ) : (
          <Button kind="main" busy={act.busy} onClick={() => void act.run(() => client.retryJob(need.jobId))}>
            Continue
          </Button>
        )}
        <Button
          kind="danger"
          busy={act.busy}
          onClick={() => void act.run(() => client.cancelJob(need.jobId))}
        >
          Cancel job
        </Button>
        <span className="text-small text-muted">
          {formatCost(need.spentUsd)} spent
          {need.maxBudgetUsd !== null && ` of ${formatCost(need.maxBudgetUsd)}`}
        </span>
      </div>
      {act.error !== null && <ErrorBox error={act.error} />}
    </div>
  )
}

function PausedRun({ need }: { need: Extract<NeedsYou, { kind: 'run' }> }) {
  const act = useAct()
  return (
    <div>
      {need.message && <p className="mb-2 text-muted">{withLocalTimes(inert(need.message)).slice(0, 400)}</p>}
      <div className="flex gap-2">
        <Button
          kind="main"
          busy={act.busy}
          onClick={() => void act.run(() => client.continueRun(need.runId))}
        >
          Continue now
        </Button>
        <Button
          kind="danger"
          busy={act.busy}
          onClick={() => void act.run(() => client.cancelRun(need.runId))}
        >
          Cancel
        </Button>
      </div>
      {act.error !== null && <ErrorBox error={act.error} />}
    </div>
  )
}

function WorkRow({ run }: { run: AtWork }) {
  return (
    <li className="flex min-h-10 items-center gap-x-3 px-3 py-1.5 max-md:flex-wrap">
      <Mark standing="work" />
      <span className="flex w-72 min-w-0 shrink-0 max-md:w-auto max-md:flex-1">
        <SubjectLink subject={run.subject} />
      </span>
      <span className="min-w-0 flex-1 truncate text-muted max-md:order-last max-md:w-full max-md:basis-full">
        {run.tool && <span className="mr-1.5 text-text">{inert(run.tool)}</span>}
        {run.doing ? (
          <span className={run.tool ? 'font-mono text-small' : ''}>{shorten(run.doing, 90)}</span>
        ) : (
          'starting'
        )}
      </span>
      {run.tier !== null && <Badge>{tierName(run.tier)}</Badge>}
      {run.attempt > 1 && <Badge standing="wait">attempt {run.attempt}</Badge>}
      <span className="text-right text-muted max-lg:hidden" title="agent and model">
        {run.agent} {run.model ?? ''}
      </span>
      <span className="max-md:hidden">
        <ContextGauge tokens={run.contextTokens} window={run.contextWindow} />
      </span>
      <span className="w-14 text-right">{formatCost(run.costUsd)}</span>
      <span className="w-14 text-right text-muted">{run.startedAt && <Elapsed from={run.startedAt} />}</span>
    </li>
  )
}

const PARKED_WORDS: Readonly<Record<Parked['kind'], string>> = {
  limit: 'usage limit',
  outage: 'outage',
  wait: 'waits',
  queue: 'queued',
  'follow-up': 'follow-up',
}

function ParkedRow({ item }: { item: Parked }) {
  const now = useNow()
  return (
    <li className="flex min-h-10 items-center gap-x-3 px-3 py-1.5 max-md:flex-wrap">
      <Mark standing="wait" />
      <span className="flex w-72 min-w-0 shrink-0 max-md:w-auto max-md:flex-1">
        <SubjectLink subject={item.subject} />
      </span>
      <span
        className="min-w-0 flex-1 truncate text-muted max-md:order-last max-md:basis-full"
        title={item.message ?? undefined}
      >
        <span className="text-text">{PARKED_WORDS[item.kind]}</span>{' '}
        {item.message &&
          (item.kind === 'follow-up' ? `“${inert(item.message)}”` : withLocalTimes(inert(item.message)))}
      </span>
      {item.behind > 0 && <span className="text-muted">+ {plural(item.behind, 'more')} behind the same</span>}
      <span className="text-right whitespace-nowrap">
        {item.until && Date.parse(item.until) > now ? (
          <>
            <span className="text-muted max-sm:hidden">goes on at {formatClock(item.until)}, </span>
            <Ago at={item.until} />
          </>
        ) : (
          <span className="text-muted">as soon as there is room</span>
        )}
      </span>
    </li>
  )
}

function Today({ costs, failures }: { costs: readonly CostRow[]; failures: readonly Failure[] }) {
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

function Figure({ name, value, children }: { name: string; value: string; children: React.ReactNode }) {
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
