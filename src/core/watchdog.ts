/**
 * When a running attempt must be stopped, and why. Time is counted, not compared: `pass` adds the time in which somebody
 * watched (see steady-clock.ts) to what the attempt was doing in it, and `watch` holds the counts against the limits. It
 * is asked again and again; the first cause it names is final.
 *
 * working: counts as work and, until it prints something, as silence.
 * held: its turn is over and it is kept for a follow-up. Counts as work, not as silence.
 * waiting: a question of its is open. Counts neither as work nor as silence: it has a limit of its own.
 * over: its turn is over, and it was told to exit.
 */
import { formatSpan } from './span.ts'

export type WatchPhase = 'working' | 'held' | 'waiting' | 'over'

export interface WatchCounts {
  workedMs: number
  silentMs: number
  /** For the answer to the oldest question that has none. */
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
