/**
 * Decides what follows when an attempt has ended: the run settles, or gets another attempt.
 *
 * - The agent refused to resume, or the model refused the resumed history (see refused-resume.ts): exactly one further
 *   attempt starts at once. It uses a new session, because the refused one is marked as poisoned by then; a new
 *   session cannot be refused again.
 * - The attempt met a usage limit or an outage, or this machine lacked something (`temporary`): it is not counted as an
 *   interruption. The run waits (see core/obstacle)
 *   and asks for a person only when it has waited too long. Its session is kept.
 * - The attempt was interrupted: another attempt follows after a pause, as long as `maxResumes` allows it.
 *   Interruptions are an agent process that disappeared (killed, crashed, lost with the machine) and a session that
 *   another process was writing; for unattended runs also a timeout. The resume decision says whether the next attempt
 *   resumes.
 * - The session overflowed: another attempt starts at once. The first overflow compacts the session and repeats the
 *   turn; after the second one the turn is repeated in a new session (see core/room). An overflow of a new session
 *   settles the run.
 * - The question was edited during the attempt: another attempt starts at once with the new text.
 * - The attempt reached `maxTurns` and the run may continue automatically: another attempt starts at once while turns
 *   are left (see turns.ts).
 * - A cancelled run settles, whatever the outcome of its last attempt; as `cancelled` if its question was edited.
 * - Everything else settles the run. A person or a feature may start another run in the session.
 *
 * Every loop is bounded: interruptions by `maxResumes` (an interruption of an unattended run without progress counts
 * twice), waits by `outage.limit`. Only one wait has no limit: if a usage limit reports a new reset time each time, at
 * most eight days ahead, the run waits for each of them, with one attempt per reset (see `reasonToGiveUp` in
 * core/obstacle).
 */
import type { Outcome, OutcomeName } from '../../contract/outcome.ts'
import type { Wait } from '../obstacle/wait.ts'
import { refusesSession } from './refused-resume.ts'

export interface AttemptEnd {
  outcome: Outcome
  /** `compact`: the attempt only compacted the session. */
  kind: 'turn' | 'compact'
  resumed: boolean
  cancelRequested: boolean
  /** The question was edited after the attempt started, so the new text must be asked. */
  outdated: boolean
  /** Nobody watches the run, so timeouts are retried too. */
  unattended: boolean
  /** The counted interruptions of this run, including this one. */
  interruptions: number
  /** What follows from the limit or outage that the attempt met; null if it met none. */
  wait: Wait | null
  /** Turns that are left for a run that continues automatically after `maxTurns`; null: it does not continue. */
  turnsLeft?: number | null
  /** How many attempts at this run, including this one, overflowed the context window. */
  overflows: number
  /** How many attempts the run has had, including this one. */
  attempts: number
  maxResumes: number
  /** The first pause after a failure of the API; it doubles with each further one. */
  backoffMs: number
  /** A random number in [0, 1) that spreads retries. */
  jitter: number
}

export type Next =
  | { kind: 'settle'; outcome: Outcome }
  | { kind: 'retry'; afterMs: number; why: string; behindObstacle?: boolean }
  /** The run stays queued until a person continues it. */
  | { kind: 'pause'; why: string }

export function decideNext(end: AttemptEnd): Next {
  const { outcome } = end
  if (end.cancelRequested) {
    // A cancelled job must not ask for a person.
    const wouldNeedPerson = end.unattended && outcome.name !== 'completed'
    // After an edit the attempt answered the old question, and the new one was never asked.
    const isCancelled = outcome.name === 'crashed' || end.outdated || wouldNeedPerson
    return { kind: 'settle', outcome: isCancelled ? { name: 'cancelled', message: 'cancelled' } : outcome }
  }
  if (end.outdated) return { kind: 'retry', afterMs: 0, why: 'the question was edited, asking it again' }
  if (refusesSession(outcome, end.resumed)) {
    return {
      kind: 'retry',
      afterMs: 0,
      why: `the session cannot be resumed, starting a new session with the history: ${outcome.message}`,
    }
  }
  if (end.wait) return end.wait
  if (isInterruption(outcome, end)) {
    return end.interruptions <= end.maxResumes
      ? { kind: 'retry', afterMs: pauseMs(end), why: `${outcome.message}; ${triesLeft(end)}` }
      : { kind: 'settle', outcome: { ...outcome, message: `${outcome.message}${gaveUp(end)}` } }
  }
  if (end.kind === 'compact' && !NOT_ABOUT_ROOM.includes(outcome.name)) {
    const why =
      outcome.name === 'completed'
        ? 'the session was compacted'
        : 'the session could not be compacted; starting a new session'
    return { kind: 'retry', afterMs: 0, why }
  }
  if (outcome.name === 'turn-limit' && (end.turnsLeft ?? 0) > 0) {
    return {
      kind: 'retry',
      afterMs: 0,
      why: `${outcome.message}; continuing, ${end.turnsLeft} turns are left`,
    }
  }
  if (outcome.name === 'context-overflow' && end.resumed && end.overflows <= MAX_OVERFLOWS) {
    return { kind: 'retry', afterMs: 0, why: 'the session is too full for the message; compacting it' }
  }
  return { kind: 'settle', outcome }
}

/** How many interruptions an attempt with this outcome counts as. */
export function countInterruptions(
  outcome: Outcome,
  { unattended, resumed, progressed }: { unattended: boolean; resumed: boolean; progressed: boolean },
): number {
  if (refusesSession(outcome, resumed) || !isInterruption(outcome, { unattended })) return 0
  return unattended && !progressed ? 2 : 1
}

function isInterruption(
  { name, apiStatus, temporary }: Outcome,
  { unattended }: { unattended: boolean },
): boolean {
  // The machine lacked something, which is waited out like an outage.
  if (temporary) return false
  if (name === 'crashed' || name === 'session-busy') return true
  if (!unattended) return false
  if (name === 'timed-out') return true
  // The agent reported a failure of the API without an HTTP status.
  return name === 'api-error' && apiStatus === undefined
}

const MAX_BACKOFF_MS = 30 * 60_000

/** One overflow before the session is compacted, and one after. */
const MAX_OVERFLOWS = 2

/** Outcomes of a compaction after which a new session would not help, or that somebody asked for. */
const NOT_ABOUT_ROOM: readonly OutcomeName[] = [
  'crashed',
  'cancelled',
  'auth',
  'rate-limited',
  'outage',
  'budget',
]

/**
 * The first retry after an interruption starts at once; then the pause is 1 s, 2 s, 4 s … up to a minute, plus jitter
 * of up to half.
 */
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
const gaveUp = ({ unattended, attempts, maxResumes }: AttemptEnd) =>
  unattended && maxResumes > 0
    ? `; gave up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} (max-resumes ${maxResumes})`
    : ''
