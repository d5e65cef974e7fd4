/** A job's transcripts are kept when an attempt has ended. That one cannot be is no reason not to settle. */
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

/** `reported`: the id the agent itself gave, where it is another one than we know. */
export async function keepTranscript(
  parts: KeepTranscriptDeps,
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
