/**
 * What follows when an attempt has ended: the run settles, or gets another attempt.
 *
 * - The agent refused to resume: exactly one further attempt, now. It will be fresh, because the refused session is
 *   poisoned by then and the resume decision sees that; and a fresh attempt cannot be refused again.
 * - The agent vanished (killed, crashed, lost with the machine): another attempt after a pause, as long as the run
 *   has resumes left. Whether that attempt resumes is again the resume decision's business.
 * - A cancelled run settles, whatever its last attempt's end looked like.
 * - Everything else settles the run. A person or a rule above may start another run in the session.
 */
import type { Outcome } from '../../contract/outcome.ts'

export interface AttemptEnd {
  outcome: Outcome
  resumed: boolean
  cancelRequested: boolean
  /** Attempts at this run so far, this one included, that ended because the agent vanished. */
  crashes: number
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
  return { kind: 'settle', outcome }
}

/** The first crash is retried at once if work was under way; then 1 s, 2 s, 4 s … up to a minute, plus up to half. */
function backoffMs(crashes: number, jitter: number): number {
  if (crashes <= 1) return 0
  const base = Math.min(60_000, 1000 * 2 ** (crashes - 2))
  return Math.round(base * (1 + jitter / 2))
}
