/**
 * Decides when a running attempt must be stopped, and why. Time is counted instead of comparing instants: `pass` adds
 * the watched time (see steady-clock.ts) to the counts of the attempt's phase, and `watch` compares the counts with the
 * limits. The caller calls `watch` repeatedly; the first cause is final.
 *
 * working: counts as work and, until the agent prints something, as silence.
 * held: the turn is over and the process is kept for a follow-up. Counts as work, not as silence.
 * waiting: a question of the agent is open. Has its own limit and counts neither as work nor as silence.
 * over: the turn is over, and the agent was told to exit.
 */
import { formatSpan } from './span.ts'

export type WatchPhase = 'working' | 'held' | 'waiting' | 'over'

export interface WatchCounts {
  workedMs: number
  silentMs: number
  /** The time for which the oldest open question has waited for its answer. */
  waitingMs: number
  overMs: number
}

export const NOTHING_COUNTED: WatchCounts = { workedMs: 0, silentMs: 0, waitingMs: 0, overMs: 0 }

export interface WatchFacts {
  phase: WatchPhase
  counts: WatchCounts
  outputBytes: number
}

export interface WatchLimits {
  maxDurationMs: number
  idleTimeoutMs: number
  hangAfterResultMs: number
  questionTimeoutMs: number
  maxOutputBytes: number
}

export type WatchCause = 'timed-out' | 'silent' | 'output-limit' | 'question-timeout' | 'hung-after-result'

export type Verdict = { kind: 'stop'; cause: WatchCause; message: string } | { kind: 'wait'; forMs: number }

export function pass(counts: WatchCounts, phase: WatchPhase, ms: number): WatchCounts {
  const { workedMs, silentMs, waitingMs, overMs } = counts
  switch (phase) {
    case 'working':
      return { ...counts, workedMs: workedMs + ms, silentMs: silentMs + ms }
    case 'held':
      return { ...counts, workedMs: workedMs + ms }
    case 'waiting':
      return { ...counts, waitingMs: waitingMs + ms }
    case 'over':
      return { ...counts, overMs: overMs + ms }
  }
}

export function watch(facts: WatchFacts, limits: WatchLimits): Verdict {
  if (facts.outputBytes > limits.maxOutputBytes) {
    return stop('output-limit', `printed more than ${limits.maxOutputBytes} bytes`)
  }
  const first = limitsOf(facts, limits).reduce((a, b) => (b.leftMs < a.leftMs ? b : a))
  return first.leftMs <= 0 ? stop(first.cause, first.message) : { kind: 'wait', forMs: first.leftMs }
}

function stop(cause: WatchCause, message: string): Verdict {
  return { kind: 'stop', cause, message }
}

interface Limit {
  leftMs: number
  cause: WatchCause
  message: string
}

function limitsOf({ phase, counts }: WatchFacts, limits: WatchLimits): [Limit, ...Limit[]] {
  if (phase === 'over') {
    const leftMs = limits.hangAfterResultMs - counts.overMs
    return [{ leftMs, cause: 'hung-after-result', message: 'did not exit after its result' }]
  }
  if (phase === 'waiting') {
    const leftMs = limits.questionTimeoutMs - counts.waitingMs
    return [{ leftMs, cause: 'question-timeout', message: 'its question was not answered in time' }]
  }
  const duration = {
    leftMs: limits.maxDurationMs - counts.workedMs,
    cause: 'timed-out',
    message: `ran longer than ${formatSpan(limits.maxDurationMs)}`,
  } as const
  const silence = {
    leftMs: limits.idleTimeoutMs - counts.silentMs,
    cause: 'silent',
    message: `printed nothing for ${formatSpan(limits.idleTimeoutMs)}`,
  } as const
  return phase === 'held' ? [duration] : [duration, silence]
}
