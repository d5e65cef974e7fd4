/** Decides how an attempt ended: the adapter's classification, corrected by facts that only Reprise knows. */
import type { AgentAdapter, StopCause } from '../../agents/adapter.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { clearsSession, type ResumeEnd } from '../../core/continue/refused-resume.ts'
import { namesTemporary } from '../../core/system-error.ts'
import { exitCodeOf } from '../../process/exit-code.ts'
import type { AttemptRecord, QuestionRecord } from '../../store/runs/attempt-records.ts'
import { readLimit } from '../obstacles/met-limit.ts'
import type { SupervisionEnd } from '../supervise/supervision.ts'
import { hasBegun, type Trace } from './trace.ts'

export interface Exit {
  exitCode: number | null
  stderr: string
  /** The agent's input was closed unexpectedly. */
  starved: boolean
  /** The disk was full when it ended. */
  unwritten: boolean
}

export const exitOf = (end: SupervisionEnd, stderr: string): Exit => ({
  exitCode: end.kind === 'exited' ? exitCodeOf(end.code, stderr) : null,
  starved: end.starved,
  unwritten: end.kind === 'lost' && end.unwritten === true,
  stderr,
})

export function classify(
  adapter: AgentAdapter,
  { own: events, attempt, turnEnd }: Trace,
  questions: readonly QuestionRecord[],
  { starved, unwritten, exitCode, stderr }: Exit,
): Outcome {
  const stopCause = attempt.stopCause as StopCause | null
  const outcome = adapter.classify({ stopCause, exitCode, stderr, turnEnd, ...readLimit(events, stopCause) })
  const lacked = stopCause === 'disk-full' || (!stopCause && (unwritten || namesTemporary(stderr)))
  if (outcome.name === 'crashed' && lacked) return { ...outcome, temporary: true }
  if (outcome.name !== 'completed') return outcome
  const withdrawn = new Set(
    events.flatMap(({ body }) => (body.type === 'question-cancel' ? [body.requestId] : [])),
  )
  // A tool ended without an answer from us, and the agent had not withdrawn the question.
  const refusedByNobody = questions.some(
    (q) => q.answer === null && q.closedAt && !withdrawn.has(q.ask.requestId),
  )
  if (!refusedByNobody && !starved) return outcome
  // A CLI that loses its stdin takes its question, also one that it could not even print, for refused; the model
  // continues without the tool, and the CLI reports success.
  return {
    name: 'crashed',
    message: 'the agent lost its input; if it reports that a tool was refused, nobody refused it',
  }
}

/** The facts that decide whether a resume was refused; see core/continue/refused-resume.ts. */
export const resumeEndOf = (trace: Trace, outcome: Outcome, { exitCode, starved }: Exit): ResumeEnd => ({
  resumed: trace.attempt.resumed,
  outcome,
  stopCause: trace.attempt.stopCause,
  exitCode,
  starved,
  begun: hasBegun(trace),
})

/**
 * The previous attempt, if its session was marked as refusing to resume and this end shows that it was not the cause.
 */
export const findCleared = ({ attempts, attempt }: Trace, end: ResumeEnd): AttemptRecord | undefined =>
  attempts.find((before) => before.number === attempt.number - 1 && clearsSession(before, end))
