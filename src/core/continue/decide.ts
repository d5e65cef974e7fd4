/**
 * What follows when an attempt has ended: the run settles, or gets another attempt.
 *
 * - The agent refused to resume, or the model refused the resumed history (see refused-resume.ts): exactly one further
 *   attempt, now. It will be fresh, because the refused session is poisoned by then and the resume decision sees that;
 *   and a fresh attempt cannot be refused again.
 * - It met a limit of use, or the model is away: nobody's fault, so it counts nothing. It waits (see core/obstacle), and is
 *   settled for a person to look after only when it has waited too long. The session is kept all the while.
 * - It was interrupted: another attempt after a pause, as long as the run has resumes left. For every run that is a
 *   vanished agent (killed, crashed, lost with the machine) or a session that somebody else was writing; for an
 *   unattended one also a timeout. Whether that attempt resumes is again the resume decision's business.
 * - The session overflowed: another attempt, now. The first time it makes room in the session, then the turn is asked
 *   again, and if that was not enough, in a fresh session (see core/room). A fresh one that overflows settles the run.
 * - Its question was edited meanwhile: another attempt, now, with the new text.
 * - It ran into `maxTurns` and may go on by itself: another attempt, now, while turns are left (see turns.ts).
 * - A cancelled run settles, whatever its last attempt's end looked like; as cancelled if its question was edited since.
 * - Everything else settles the run. A person or a rule above may start another run in the session.
 *
 * No loop is endless: interruptions are bounded by `maxResumes`, those of an unattended run that added nothing counting
 * double; waits by `outage.limit`. One wait has no bound in time: a limit that keeps naming a new reset, each at most
 * eight days ahead, is waited for as long as it does (see `outlasted` in core/obstacle). It counts one try for each reset.
 */
import type { Outcome, OutcomeName } from '../../contract/outcome.ts'
import type { Wait } from '../obstacle/wait.ts'
import { refusesSession } from './refused-resume.ts'

export interface AttemptEnd {
  outcome: Outcome
  /** `compact`: it only made room in the session. */
  kind: 'turn' | 'compact'
  resumed: boolean
  cancelRequested: boolean
  /** The question was edited since it was asked: whatever came of it, it is asked again. */
  outdated: boolean
  /** Nobody watches: what passes by itself is waited for. */
  unattended: boolean
  /** What the interruptions of this run count so far, this one included. */
  interruptions: number
  /** What follows from a limit or an outage that it met; null if it met none. */
  wait: Wait | null
  /** What a run that goes on by itself after `maxTurns` may still take; null: it does not. */
  turnsLeft?: number | null
  /** Attempts at this run so far, this one included, that did not fit into the context. */
  overflows: number
  maxResumes: number
  /** The first pause after what only time cures. */
  backoffMs: number
  /** In [0, 1): spreads retries. */
  jitter: number
}

export type Next =
  | { kind: 'settle'; outcome: Outcome }
  | { kind: 'retry'; afterMs: number; why: string; behindObstacle?: boolean }
  /** Until a person makes it go on. */
  | { kind: 'pause'; why: string }

export function decideNext(end: AttemptEnd): Next {
  const { outcome } = end
  if (end.cancelRequested) {
    // Nobody is to be asked to look after a job that was given up.
    const isLookedAfter = end.unattended && outcome.name !== 'completed'
    // After an edit the attempt answered the old question, and the new one was never asked.
    const gone = outcome.name === 'crashed' || end.outdated || isLookedAfter
    return { kind: 'settle', outcome: gone ? { name: 'cancelled', message: 'cancelled' } : outcome }
  }
  if (end.outdated) return { kind: 'retry', afterMs: 0, why: 'the question was edited, asking it again' }
  if (refusesSession(outcome, end.resumed)) {
    return {
      kind: 'retry',
      afterMs: 0,
      why: `the session cannot be resumed, starting fresh with the history: ${outcome.message}`,
    }
  }
  if (end.wait) return end.wait
  if (isInterruption(outcome, end)) {
    return end.interruptions <= end.maxResumes
      ? { kind: 'retry', afterMs: pauseMs(end), why: `${outcome.message}; ${triesLeft(end)}` }
      : { kind: 'settle', outcome: { ...outcome, message: `${outcome.message}${givenUp(end)}` } }
  }
  if (end.kind === 'compact' && !NOT_ABOUT_ROOM.includes(outcome.name)) {
    const why =
      outcome.name === 'completed'
        ? 'the session was compacted'
        : 'the session could not be compacted; starting fresh'
    return { kind: 'retry', afterMs: 0, why }
  }
  if (outcome.name === 'turn-limit' && (end.turnsLeft ?? 0) > 0) {
    return { kind: 'retry', afterMs: 0, why: `${outcome.message}; going on, ${end.turnsLeft} turns are left` }
  }
  if (outcome.name === 'context-overflow' && end.resumed && end.overflows <= MAX_OVERFLOWS) {
    return { kind: 'retry', afterMs: 0, why: 'the session is too full for the message; making room' }
  }
  return { kind: 'settle', outcome }
}

/** What an attempt that ended so counts against the resumes of its run. */
export function countInterruptions(
  outcome: Outcome,
  { unattended, resumed, progressed }: { unattended: boolean; resumed: boolean; progressed: boolean },
): number {
  if (refusesSession(outcome, resumed) || !isInterruption(outcome, { unattended })) return 0
  return unattended && !progressed ? 2 : 1
}

function isInterruption({ name, apiStatus }: Outcome, { unattended }: { unattended: boolean }): boolean {
  if (name === 'crashed' || name === 'session-busy') return true
  if (!unattended) return false
  if (name === 'timed-out') return true
  // The agent failed at something that it does not put a status to.
  return name === 'api-error' && apiStatus === undefined
}

const MAX_BACKOFF_MS = 30 * 60_000

/** Before room was made, and after. */
const MAX_OVERFLOWS = 2

/** Ends of an attempt that a fresh session would only meet again, or that somebody wanted. */
const NOT_ABOUT_ROOM: readonly OutcomeName[] = [
  'crashed',
  'cancelled',
  'auth',
  'rate-limited',
  'outage',
  'budget',
]

/** The first time at once if work was under way; then 1 s, 2 s, 4 s … up to a minute, plus up to half. */
function pauseMs({ outcome, interruptions, backoffMs, jitter }: AttemptEnd): number {
  const ours = ['crashed', 'timed-out', 'session-busy'].includes(outcome.name)
  if (!ours) return spread(doubled(backoffMs, interruptions), jitter)
  return interruptions <= 1 ? 0 : spread(Math.min(60_000, 1000 * 2 ** (interruptions - 2)), jitter)
}

/** `n` counts from 1. */
const doubled = (ms: number, n: number) => Math.min(MAX_BACKOFF_MS, ms * 2 ** Math.min(n - 1, 30))
const spread = (ms: number, jitter: number) => Math.round(ms * (1 + jitter / 2))

const triesLeft = ({ interruptions, maxResumes }: AttemptEnd) =>
  `trying again (${interruptions} of ${maxResumes})`
const givenUp = ({ unattended, interruptions, maxResumes }: AttemptEnd) =>
  unattended && maxResumes > 0
    ? `; given up, its interruptions count ${interruptions} and ${maxResumes} are allowed`
    : ''
