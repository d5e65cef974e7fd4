/** Now: what needs you, what is at work, what waits by itself, and how today went. */
import { useQuery } from '@tanstack/react-query'
import type { AtWork, Overview, Parked } from '../../src/contract/overview.ts'
import { useTitle } from '../data/hooks.ts'
import { overviewQuery } from '../data/queries.ts'
import { formatCost, plural } from '../format/amounts.ts'
import { inert, shorten } from '../format/text.ts'
import { formatClock, withLocalTimes } from '../format/time.ts'
import { tierName } from '../format/words.ts'
import { keyOfNeed, NeedRow } from '../now/needs.tsx'
import { Today } from '../now/today.tsx'
import { Badge, Empty, ErrorBox, Mark, Rows, Section, Skeleton } from '../parts/base.tsx'
import { Ago, Elapsed, useNow } from '../parts/clock.tsx'
import { ContextGauge } from '../parts/context-gauge.tsx'
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
  const { needsYou, atWork, parked, costs, failures, simulated } = overview
  const scheduled = parked.filter(({ kind }) => kind === 'schedule').length
  const nothing = needsYou.length + atWork.length + parked.length - scheduled + costs.length === 0
  return (
    <>
      <Section title="Needs you" count={needsYou.length}>
        {needsYou.length === 0 ? (
          <p className="rounded-lg border border-line bg-surface px-3 py-2.5 text-muted">
            <span className="text-ok">✓</span> Nothing needs you.
          </p>
        ) : (
          <Rows label="Needs you" settles={needsYou.map(keyOfNeed).join()}>
            {needsYou.map((need) => (
              <NeedRow key={keyOfNeed(need)} need={need} />
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
      {!nothing && <Today costs={costs} failures={failures} simulated={simulated} />}
    </>
  )
}

function WorkRow({ run }: { run: AtWork }) {
  return (
    <li className="flex min-h-10 items-center gap-x-3 px-3 py-1.5 max-md:flex-wrap">
      <Mark standing="work" />
      <span className="flex w-96 min-w-0 shrink-0 max-xl:w-72 max-md:w-auto max-md:flex-1">
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
  schedule: 'fires',
}

/** The vendor's words about a limit or an outage. Its beginning and end are shown elsewhere. */
function messageOf({ kind, message }: Parked): string {
  if (message === null) return ''
  const text = withLocalTimes(inert(message))
  if (kind === 'follow-up') return `“${text}”`
  if (kind !== 'limit' && kind !== 'outage') return text
  const [first = ''] = text.split('; ', 1)
  return first.replace(/^.*? since [^:]*:\d\d: /, '')
}

function ParkedRow({ item }: { item: Parked }) {
  const now = useNow()
  return (
    <li className="flex min-h-10 items-center gap-x-3 px-3 py-1.5 max-md:flex-wrap">
      <Mark standing="wait" />
      <span className="flex w-96 min-w-0 shrink-0 max-xl:w-72 max-md:w-auto max-md:flex-1">
        <SubjectLink subject={item.subject} />
      </span>
      <span
        className="min-w-0 flex-1 truncate text-muted max-md:order-last max-md:basis-full"
        title={item.message ?? undefined}
      >
        <span className="text-text">{PARKED_WORDS[item.kind]}</span> {messageOf(item)}
      </span>
      {item.behind > 0 && <span className="text-muted">+ {plural(item.behind, 'more')} behind the same</span>}
      <span className="text-right whitespace-nowrap">
        {item.until && Date.parse(item.until) > now ? (
          <>
            <span className="text-muted max-sm:hidden">
              {item.kind === 'schedule' ? '' : 'goes on '}at {formatClock(item.until)},{' '}
            </span>
            <Ago at={item.until} />
          </>
        ) : (
          <span className="text-muted">as soon as there is room</span>
        )}
      </span>
    </li>
  )
}
