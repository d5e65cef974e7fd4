/**
 * Archives a job's transcript when an attempt has ended. A failure is logged and does not keep the run from settling.
 */
import type { AgentRegistry } from '../../agents/registry.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { archiveSession } from './archive.ts'

export interface KeepTranscriptDeps {
  store: Pick<Store, 'getSession'>
  agents: Pick<AgentRegistry, 'find'>
  /** The folder that keeps the transcripts of jobs. */
  archive: string
  log: Log
}

/** `reported` is the session id that the agent reported, if it differs from the one we know. */
export async function keepTranscript(
  parts: KeepTranscriptDeps,
  run: RunRecord,
  { sessionId }: AttemptRecord,
  reported: string | null,
): Promise<void> {
  const { jobId } = run.links
  const session = jobId && (await parts.store.getSession(sessionId))
  // The location of the files is unknown for an agent that is not configured any more.
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
