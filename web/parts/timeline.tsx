/** The attempts at a job or a run on one axis of time, with the decision before each in words. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { JobAttempt } from '../../src/contract/job.ts'
import { startText } from '../../src/contract/start-text.ts'
import { formatCost, formatCount, formatPercent, formatSaved } from '../format/amounts.ts'
import { inert, shortId } from '../format/text.ts'
import { formatClockSeconds, formatExact, formatSpan, nowMs } from '../format/time.ts'
import { OUTCOME_WORDS, standingOfOutcome } from '../format/words.ts'
import { Button, Mark } from './base.tsx'
import { Elapsed, useNow } from './clock.tsx'
import { ContextGauge } from './context-gauge.tsx'

const FILL = {
  work: 'bg-accent',
  wait: 'bg-wait',
  ask: 'bg-ask',
  fail: 'bg-fail',
  done: 'bg-ok',
  off: 'bg-muted',
} as const

/** More attempts than this are shown by their newest. */
const MAX_SHOWN = 60

export function Timeline({ attempts }: { attempts: readonly JobAttempt[] }) {
  const now = useNow()
  const [whole, setWhole] = useState(false)
  if (attempts.length === 0) return <p className="text-muted">Nothing was tried yet.</p>
  const shown = whole ? attempts : attempts.slice(-MAX_SHOWN)
  const from = Math.min(...shown.map(({ startedAt }) => Date.parse(startedAt)))
  const to = Math.max(...shown.map(({ endedAt }) => (endedAt ? Date.parse(endedAt) : now)), from + 1000)
  const hidden = attempts.length - shown.length
  // An attempt that was killed did not report the window of its model.
  const window = attempts.findLast(({ contextWindow }) => contextWindow !== null)?.contextWindow ?? null
  return (
    <div>
      {hidden > 0 && (
        <Button kind="bare" onClick={() => setWhole(true)}>
          Show {formatCount(hidden)} earlier attempts
        </Button>
      )}
      <ol className="flex flex-col">
        {shown.map((attempt, index) => (
          <Lane
            key={attempt.id}
            attempt={attempt}
            number={hidden + index + 1}
            before={shown[index - 1] ?? null}
            from={from}
            to={to}
            window={window}
          />
        ))}
      </ol>
    </div>
  )
}

function Lane({
  attempt,
  number,
  before,
  from,
  to,
  window,
}: {
  attempt: JobAttempt
  number: number
  before: JobAttempt | null
  from: number
  to: number
  /** For an attempt that does not know its own. */
  window: number | null
}) {
  const { startedAt, endedAt, outcome, cache } = attempt
  const standing = outcome ? standingOfOutcome(outcome.name) : endedAt ? 'off' : 'work'
  const start = Date.parse(startedAt)
  const end = endedAt ? Date.parse(endedAt) : nowMs()
  const left = ((start - from) / (to - from)) * 100
  const width = Math.max(0.8, ((end - start) / (to - from)) * 100)
  const read =
    cache && cache.readTokens + cache.writtenTokens > 0
      ? cache.readTokens / (cache.readTokens + cache.writtenTokens)
      : null
  const newRun = before !== null && before.runId !== attempt.runId
  return (
    <li className="py-1">
      <p className="text-label text-muted">
        {before && <span className="mr-1">↳</span>}
        {newRun && <span className="mr-1 text-text">retried:</span>}
        {startText(attempt)}
        {attempt.resumed && before && <span>, the prompt is not sent again if the session has it</span>}
      </p>
      <div className="flex items-center gap-2">
        <Link
          to="/runs/$id"
          params={{ id: attempt.runId }}
          className="w-20 shrink-0 text-small hover:underline"
          title={`${attempt.id}, session ${shortId(attempt.agentSessionId)}`}
        >
          attempt {number}
        </Link>
        <time className="w-16 shrink-0 text-small text-muted max-sm:hidden" title={formatExact(startedAt)}>
          {formatClockSeconds(startedAt)}
        </time>
        <div className="relative h-3 min-w-12 flex-1 rounded-sm bg-raised" aria-hidden="true">
          <div
            className={`absolute h-full rounded-sm ${FILL[standing]}`}
            style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }}
          />
        </div>
        <span className="w-14 shrink-0 text-right text-small text-muted">
          <Elapsed from={startedAt} to={endedAt} />
        </span>
        <span className="w-16 shrink-0 text-right text-small">{formatCost(attempt.costUsd)}</span>
      </div>
      <p className="pl-22 text-small max-md:pl-0">
        <Mark standing={standing} label="" />
        <span className={standing === 'fail' ? 'text-fail' : ''}>
          {outcome ? OUTCOME_WORDS[outcome.name] : endedAt ? 'ended' : 'at work'}
        </span>
        {outcome?.message && outcome.name !== 'completed' && (
          <span className="ml-1.5 text-muted">{inert(outcome.message).slice(0, 200)}</span>
        )}
        {read !== null && (
          <span
            className="ml-2 text-muted"
            title={cache ? `${cache.rewrittenTokens} tokens were written again` : undefined}
          >
            cache {formatPercent(read)} read
            {cache?.cause && (
              <span className="text-ask"> · written again: {cache.cause.replaceAll('-', ' ')}</span>
            )}
            {cache?.savedUsd != null && cache.savedUsd > 0 && ` · saved ${formatSaved(cache.savedUsd)}`}
          </span>
        )}
        {attempt.contextTokens !== null && (
          <span className="ml-2">
            <ContextGauge tokens={attempt.contextTokens} window={attempt.contextWindow ?? window} />
          </span>
        )}
        {attempt.agentVersion && <span className="ml-2 text-muted">v{attempt.agentVersion}</span>}
        {endedAt && outcome === null && <span className="ml-2 text-muted">{formatSpan(end - start)}</span>}
      </p>
    </li>
  )
}
