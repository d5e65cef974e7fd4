/**
 * Finds a session that Reprise has not made, such as one of the Agent SDK, in the agent's own files. It can be continued
 * like any other; the first query in it imports what was said there.
 */
import { stat } from 'node:fs/promises'
import type { AgentRegistry, ConfiguredAgent } from '../../agents/registry.ts'
import { recordSession } from '../../store/runs/new-session.ts'
import type { NewSession } from '../../store/runs/session-records.ts'
import { identifyDir, realWorkDir } from '../base/work-dir.ts'

/** null: the agent has no such session for this directory. */
export async function findMadeElsewhere(
  agents: Pick<AgentRegistry, 'runtime'>,
  { name, adapter, env }: ConfiguredAgent,
  { agentSessionId, workDir: given, now }: { agentSessionId: string; workDir: string; now: Date },
): Promise<NewSession | null> {
  const workDir = await realWorkDir(given)
  const found = await adapter.locateSession(agentSessionId, env, workDir)
  const place = adapter.placeSession(agentSessionId, env, workDir)
  // A session of another directory is not continued here.
  if (!found || found.transcript !== place?.transcript) return null
  const { mtime } = await stat(found.transcript)
  const runtime = await agents.runtime(name)
  const known = {
    agent: name,
    agentSessionId,
    workDir,
    workDirId: await identifyDir(workDir),
    runtimeId: runtime.runtimeId,
    // Which version wrote it is not known.
    runtime: null,
    turns: 1,
    lastUsedAt: mtime,
  }
  return recordSession(known, now)
}
