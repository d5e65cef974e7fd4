/**
 * Decides whether the agent or the model refused to resume a session. If so, the session is the cause, and the same
 * turn is asked again in a new session that is given the history. Agents report a refusal in many ways (a result line,
 * an exit code, a translated sentence, a crash, or nothing at all), so it is recognised by how the process ended and
 * not by its messages:
 *
 * - Refused: a resumed process started no turn and wrote nothing of this run to its transcript, and then exited by
 *   itself with any code, or crashed (SIGSEGV, SIGABRT and the like), or printed nothing until its timeout.
 * - Refused: the model did not accept the history, for another reason than its length.
 * - Interrupted, not refused: the process was killed from outside (SIGKILL, SIGTERM, SIGINT, SIGHUP), disappeared
 *   together with its keeper, lost its input, could not be started at all (exit codes 126 and 127), or was stopped on
 *   request. The session is kept and resumed again.
 * - An outage or a refused login is neither: by then the agent has accepted the prompt, so a turn has started.
 *
 * A refusal is only a suspicion until the attempt in the new session has ended. If that attempt fails in the same way,
 * the session was not the cause (but a broken installation or an unpaid account, for instance): it is cleared and may
 * be resumed again.
 */
import type { Outcome } from '../../contract/outcome.ts'

export interface ResumeEnd {
  resumed: boolean
  outcome: Outcome
  /** Why Reprise stopped the process; null if it did not. */
  stopCause: string | null
  /** null: unknown, because the keeper of the process is gone too. */
  exitCode: number | null
  /** The process lost its input. */
  starved: boolean
  /** The process announced a session, accepted a prompt or called a model. */
  begun: boolean
}

/** Signals of a process that crashed: ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS. */
const CRASH_SIGNALS: readonly number[] = [4, 5, 6, 7, 8, 11, 31]
const NOT_STARTED: readonly number[] = [126, 127]
const HUNG: readonly (string | null)[] = ['silent', 'timed-out']

/** Whether the agent itself ended the attempt before a turn started. The caller must check the transcript as well. */
export function endedBeforeTurn({ outcome, stopCause, exitCode, starved, begun }: ResumeEnd): boolean {
  if (begun || starved) return false
  if (outcome.name === 'timed-out') return HUNG.includes(stopCause)
  if (outcome.name !== 'crashed' || stopCause !== null || exitCode === null) return false
  return exitCode > 128 ? CRASH_SIGNALS.includes(exitCode - 128) : !NOT_STARTED.includes(exitCode)
}

/** The outcome of a resumed attempt that ended before its turn and left its transcript unchanged. */
export const toRefusal = ({ message }: Outcome): Outcome => ({
  name: 'session-missing',
  message: `the agent did not resume its session: ${message}`,
})

/** Whether the outcome means that the session must not be resumed again. */
export const refusesSession = (outcome: Outcome, resumed: boolean): boolean =>
  resumed && (outcome.name === 'session-missing' || isRefusedHistory(outcome))

const isRefusedHistory = ({ name, historyRefused }: Outcome) =>
  name === 'api-error' && historyRefused === true

export function poisonOf(outcome: Outcome, resumed: boolean): { refused: boolean; message: string } | null {
  if (!refusesSession(outcome, resumed)) return null
  return { refused: outcome.name === 'session-missing', message: outcome.message }
}

/** Whether a session was not the cause of a refusal: the following attempt in a new session ended in the same way. */
export function clearsSession(
  before: { resumed: boolean; outcome: Outcome | null } | undefined,
  end: ResumeEnd,
): boolean {
  if (end.resumed || !before?.resumed || before.outcome === null) return false
  if (isRefusedHistory(before.outcome)) return isRefusedHistory(end.outcome)
  return before.outcome.name === 'session-missing' && endedBeforeTurn(end)
}
