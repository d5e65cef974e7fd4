/** A job's transcripts are kept when an attempt has ended. That one cannot be is no reason not to settle. */
import type { AttemptRecord, RunRecord } from '../../store/base/records.ts'
import type { EngineParts } from '../parts.ts'
import { archiveSession } from './archive.ts'

/** `reported`: the id the agent itself gave, where it is another one than we know. */
export async function keepTranscript(
  parts: EngineParts,
  run: RunRecord,
  { sessionId }: AttemptRecord,
  reported: string | null,
): Promise<void> {
  const { jobId } = run.links
  const session = jobId && (await parts.store.getSession(sessionId))
  // Of an agent that is configured no more, nobody knows where its files are.
  const agent = parts.agents.find(run.agent)
  if (!session || !agent) return
  try {
    const { adapter, env } = agent
    const agentSessionId = reported ?? session.agentSessionId
    await archiveSession(
      { archiveDir: parts.archive, adapter, env },
      { jobId, agentSessionId, workDir: session.workDir },
    )
  } catch (error) {
    parts.log.error({ job: jobId, error: String(error) }, 'could not archive a transcript')
  }
}
