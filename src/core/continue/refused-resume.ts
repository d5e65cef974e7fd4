/**
 * Whether a resume was refused: the session itself is at fault, so the same turn is asked again in a fresh session that
 * is given the history. Agents say this in many ways (a result line, an exit code, a translated sentence, a crash, or
 * nothing at all), so it is recognised by what happened rather than by what was said:
 *
 * - Refused: a resumed process that began no turn and recorded nothing of ours in its transcript, and then exited by
 *   itself with any code, or crashed (SIGSEGV, SIGABRT and the like), or printed nothing until its time was over.
 * - Refused: the model did not accept the history itself, for another reason than its length.
 * - An interruption, not a refusal: the process was killed from outside (SIGKILL, SIGTERM, SIGINT, SIGHUP), vanished
 *   together with its keeper, lost its input, or could not be started at all (exit codes 126 and 127); and whatever was
 *   stopped because somebody wanted that. The session is kept and resumed again.
 * - An outage or a refused login is neither: by then the agent has taken the prompt, which is a turn begun.
 *
 * A refusal is a suspicion until the fresh attempt has shown that it does better. If that attempt fails in the same way,
 * the session was not the cause (a broken installation, an unpaid account): it is cleared, and may be resumed again.
 */
import type { Outcome } from '../../contract/outcome.ts'

export interface ResumeEnd {
  resumed: boolean
  outcome: Outcome
  /** Why we ended the process, if we did. */
  stopCause: string | null
  /** null: nobody knows how it ended, because its keeper is gone too. */
  exitCode: number | null
  /** It lost its input. */
  starved: boolean
  /** It announced a session, took a prompt or called a model. */
  begun: boolean
}

/** Signals by which a process is ended through its own fault: ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS. */
const CRASH_SIGNALS: readonly number[] = [4, 5, 6, 7, 8, 11, 31]
const NOT_STARTED: readonly number[] = [126, 127]
const HUNG: readonly (string | null)[] = ['silent', 'timed-out']

/** Whether the attempt ended without a turn in a way that is the agent's own doing. The transcript is still to be looked at. */
export function endedBeforeTurn({ outcome, stopCause, exitCode, starved, begun }: ResumeEnd): boolean {
  if (begun || starved) return false
  if (outcome.name === 'timed-out') return HUNG.includes(stopCause)
  if (outcome.name !== 'crashed' || stopCause !== null || exitCode === null) return false
  return exitCode > 128 ? CRASH_SIGNALS.includes(exitCode - 128) : !NOT_STARTED.includes(exitCode)
}

/** What a resumed attempt that ended before its turn is called, once its transcript is known to be unchanged. */
export const toRefusal = ({ message }: Outcome): Outcome => ({
  name: 'session-missing',
  message: `the agent did not resume its session: ${message}`,
})

/** The attempt says that its session must not be resumed again. */
export const refusesSession = (outcome: Outcome, resumed: boolean): boolean =>
  resumed && (outcome.name === 'session-missing' || isRefusedHistory(outcome))

const isRefusedHistory = ({ name, historyRefused }: Outcome) =>
  name === 'api-error' && historyRefused === true

export function poisonOf(outcome: Outcome, resumed: boolean): { refused: boolean; message: string } | null {
  if (!refusesSession(outcome, resumed)) return null
  return { refused: outcome.name === 'session-missing', message: outcome.message }
}

/** The attempt before this fresh one was refused, and this one ended alike: the session was not the cause. */
export function clearsSession(
  before: { resumed: boolean; outcome: Outcome | null } | undefined,
  end: ResumeEnd,
): boolean {
  if (end.resumed || !before?.resumed || before.outcome === null) return false
  if (isRefusedHistory(before.outcome)) return isRefusedHistory(end.outcome)
  return before.outcome.name === 'session-missing' && endedBeforeTurn(end)
}
