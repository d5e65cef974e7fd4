/**
 * Decides whether the resume was refused if an attempt ended before its turn began; see
 * core/continue/refused-resume.ts.
 */
import type { Outcome } from '../../contract/outcome.ts'
import { endedBeforeTurn, type ResumeEnd, toRefusal } from '../../core/continue/refused-resume.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import { isRecorded, type RecordedDeps } from '../sessions/recorded.ts'

export async function judgeResume(
  deps: RecordedDeps,
  { run, attempt, end }: { run: RunRecord; attempt: AttemptRecord; end: ResumeEnd },
): Promise<Outcome> {
  if (!attempt.resumed || !endedBeforeTurn(end)) return end.outcome
  // If the prompt is in the transcript although the agent did not report it, the session accepted it and can be
  // resumed.
  return (await isRecorded(deps, run, attempt, attempt.promptId)) ? end.outcome : toRefusal(end.outcome)
}
