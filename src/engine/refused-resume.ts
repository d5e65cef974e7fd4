/** Looks at a resumed attempt that ended before its turn: was the resume refused? See core/continue/refused-resume.ts. */
import type { Outcome } from '../contract/outcome.ts'
import { endedBeforeTurn, type ResumeEnd, toRefusal } from '../core/continue/refused-resume.ts'
import type { AttemptRecord, RunRecord } from '../store/records.ts'
import type { EngineParts } from './parts.ts'

export async function judgeResume(
  { store, agents }: EngineParts,
  { run, attempt, end }: { run: RunRecord; attempt: AttemptRecord; end: ResumeEnd },
): Promise<Outcome> {
  if (!attempt.resumed || !endedBeforeTurn(end)) return end.outcome
  const session = await store.getSession(attempt.sessionId)
  const agent = agents.find(run.agent)
  // The prompt may have been recorded although nobody was told: then the session took it, and can be resumed.
  const transcript =
    session &&
    agent &&
    (await agent.adapter.inspectTranscript(attempt.agentSessionId, agent.env, {
      workDir: session.workDir,
      messageId: attempt.promptId,
    }))
  return transcript?.hasMessage ? end.outcome : toRefusal(end.outcome)
}
