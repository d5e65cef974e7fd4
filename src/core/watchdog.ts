/**
 * When a running attempt must be stopped, and why. Asked again and again with the newest facts; the first cause it
 * names is final.
 *
 * Time in which the agent waits for a person counts neither as silence nor against the maximum duration: it has a
 * limit of its own.
 */
import { formatSpan } from './span.ts'

export interface WatchFacts {
  startedAt: Date
  lastOutputAt: Date
  outputBytes: number
  /** When the agent said its turn was over. */
  turnEndedAt: Date | null
  /** The oldest question that has no answer yet. */
  waitingSince: Date | null
  /** Time spent waiting for answers that have come since. */
  waitedMs: number
  /** Its turn is over, and it is kept for what comes then. */
  heldUntil: Date | null
}

export interface WatchLimits {
  maxDurationMs: number
  idleTimeoutMs: number
  hangAfterResultMs: number
  questionTimeoutMs: number
  maxOutputBytes: number
}

export type WatchCause = 'timed-out' | 'silent' | 'output-limit' | 'question-timeout' | 'hung-after-result'

export type Verdict = { kind: 'stop'; cause: WatchCause; message: string } | { kind: 'wait'; untilMs: number }

export function watch(facts: WatchFacts, limits: WatchLimits, now: Date): Verdict {
  if (facts.outputBytes > limits.maxOutputBytes) {
    return stop('output-limit', `printed more than ${limits.maxOutputBytes} bytes`)
  }
  const deadlines = deadlinesOf(facts, limits)
  const passed = deadlines.filter(({ at }) => at <= now.getTime()).sort((a, b) => a.at - b.at)[0]
  if (passed) return stop(passed.cause, passed.message)
  return { kind: 'wait', untilMs: Math.min(...deadlines.map(({ at }) => at)) }
}

function stop(cause: WatchCause, message: string): Verdict {
  return { kind: 'stop', cause, message }
}

function deadlinesOf(
  facts: WatchFacts,
  limits: WatchLimits,
): { at: number; cause: WatchCause; message: string }[] {
  if (facts.turnEndedAt) {
    const at = facts.turnEndedAt.getTime() + limits.hangAfterResultMs
    return [{ at, cause: 'hung-after-result', message: 'did not exit after its result' }]
  }
  if (facts.waitingSince) {
    const at = facts.waitingSince.getTime() + limits.questionTimeoutMs
    return [{ at, cause: 'question-timeout', message: 'its question was not answered in time' }]
  }
  const duration = {
    at: facts.startedAt.getTime() + limits.maxDurationMs + facts.waitedMs,
    cause: 'timed-out',
    message: `ran longer than ${formatSpan(limits.maxDurationMs)}`,
  } as const
  const silence = {
    at: facts.lastOutputAt.getTime() + limits.idleTimeoutMs,
    cause: 'silent',
    message: `printed nothing for ${formatSpan(limits.idleTimeoutMs)}`,
  } as const
  return facts.heldUntil ? [duration] : [duration, silence]
}
