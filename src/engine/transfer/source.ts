/** Finds the files of a session that is to be exported or copied. */
import type { AgentRegistry, ConfiguredAgent } from '../../agents/registry.ts'
import type { SessionFiles } from '../../agents/session-files.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { type RestoreDeps, restoreSession } from '../mirror/restore.ts'

export interface SourceDeps extends RestoreDeps {
  store: Pick<Store, 'findLeaseHolder'>
  agents: Pick<AgentRegistry, 'get'>
}

/** Files that are missing are first restored from their mirror. */
export async function findSource(
  deps: SourceDeps,
  session: SessionRecord,
): Promise<ConfiguredAgent & { files: SessionFiles }> {
  const agent = deps.agents.get(session.agent)
  const locate = () => agent.adapter.locateSession(session.agentSessionId, agent.env, session.workDir)
  const files = (await locate()) ?? ((await restoreSession(deps, agent, session)) ? await locate() : null)
  if (files) return { ...agent, files }
  throw new RepriseError('session-unusable', `the agent has no files of session ${session.id} any more`, {
    hint: `\`reprise sessions show ${session.id}\` tells where they were looked for.`,
  })
}

/** Who writes to the session now, in words; null: nobody. */
export async function findWriter(
  { store, agents }: SourceDeps,
  session: SessionRecord,
): Promise<string | null> {
  const run = await store.findLeaseHolder(session.id)
  if (run) return `run ${run}`
  const { adapter, env } = agents.get(session.agent)
  const [holder] = await adapter.findHolders(session.agentSessionId, env)
  return holder ? `another process (pid ${holder.pid})` : null
}
