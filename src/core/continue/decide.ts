/**
 * What follows when an attempt has ended: the run settles, or gets another attempt.
 *
 * - The agent refused to resume: exactly one further attempt, now. It will be fresh, because the refused session is
 *   poisoned by then and the resume decision sees that; and a fresh attempt cannot be refused again.
 * - The agent vanished (killed, crashed, lost with the machine): another attempt after a pause, as long as the run
 *   has resumes left. Whether that attempt resumes is again the resume decision's business.
 * - The session overflowed: another attempt, now. The first time it makes room in the session, then the turn is asked
 *   again, and if that was not enough, in a fresh session (see core/room). A fresh one that overflows settles the run.
 * - A cancelled run settles, whatever its last attempt's end looked like.
 * - Everything else settles the run. A person or a rule above may start another run in the session.
 */
import type { Outcome, OutcomeName } from '../../contract/outcome.ts'

export interface AttemptEnd {
  outcome: Outcome
  /** `compact`: it only made room in the session. */
  kind: 'turn' | 'compact'
  resumed: boolean
  cancelRequested: boolean
  /** Attempts at this run so far, this one included, that ended because the agent vanished. */
  crashes: number
  /** Attempts at this run so far, this one included, that did not fit into the context. */
  overflows: number
  /** This attempt added something: model output or tool calls. */
  progressed: boolean
  maxResumes: number
  /** In [0, 1): spreads retries. */
  jitter: number
}

export type Next = { kind: 'settle'; outcome: Outcome } | { kind: 'retry'; afterMs: number; why: string }

export function decideNext(end: AttemptEnd): Next {
  const { outcome } = end
  if (end.cancelRequested) {
    return {
      kind: 'settle',
      outcome: outcome.name === 'crashed' ? { name: 'cancelled', message: 'cancelled' } : outcome,
    }
  }
  if (outcome.name === 'session-missing' && end.resumed) {
    return {
      kind: 'retry',
      afterMs: 0,
      why: 'the agent could not resume its session; starting fresh with the history',
    }
  }
  if (outcome.name === 'crashed' && end.crashes <= end.maxResumes) {
    return {
      kind: 'retry',
      afterMs: backoffMs(end.progressed ? end.crashes : end.crashes + 1, end.jitter),
      why: `${outcome.message}; trying again (${end.crashes} of ${end.maxResumes})`,
    }
  }
  if (end.kind === 'compact' && !NOT_ABOUT_ROOM.includes(outcome.name)) {
    const why =
      outcome.name === 'completed'
        ? 'the session was compacted'
        : 'the session could not be compacted; starting fresh'
    return { kind: 'retry', afterMs: 0, why }
  }
  if (outcome.name === 'context-overflow' && end.resumed && end.overflows <= MAX_OVERFLOWS) {
    return { kind: 'retry', afterMs: 0, why: 'the session is too full for the message; making room' }
  }
  return { kind: 'settle', outcome }
}

/** Before room was made, and after. */
const MAX_OVERFLOWS = 2

/** Ends of an attempt that a fresh session would only meet again, or that somebody wanted. */
const NOT_ABOUT_ROOM: readonly OutcomeName[] = ['crashed', 'cancelled', 'auth', 'rate-limited', 'budget']

/** The first crash is retried at once if work was under way; then 1 s, 2 s, 4 s … up to a minute, plus up to half. */
function backoffMs(crashes: number, jitter: number): number {
  if (crashes <= 1) return 0
  const base = Math.min(60_000, 1000 * 2 ** (crashes - 2))
  return Math.round(base * (1 + jitter / 2))
}
