/** Where an attempt's session is: the newest message in its transcript, to which a rewind can go back. */
import type { AgentRegistry } from '../../agents/registry.ts'
import type { AttemptId } from '../../contract/ids.ts'
import type { SessionPosition } from '../../store/jobs/records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

export interface PositionDeps {
  store: Pick<Store, 'listAttempts' | 'getSession'>
  agents: Pick<AgentRegistry, 'find'>
}

/** null: there is no transcript yet, or the agent's sessions cannot be cut. */
export async function readPosition(
  { store, agents }: PositionDeps,
  run: RunRecord,
  attemptId: AttemptId,
): Promise<SessionPosition | null> {
  const copies = agents.find(run.agent)?.adapter.copies
  const attempt = copies && (await store.listAttempts(run.id)).find(({ id }) => id === attemptId)
  const session = attempt && (await store.getSession(attempt.sessionId))
  const agent = agents.find(run.agent)
  if (!copies || !session || !agent) return null
  const files = await agent.adapter.locateSession(attempt.agentSessionId, agent.env, session.workDir)
  const messageId = files && (await copies.readPosition(files.transcript))
  return messageId ? { sessionId: session.id, messageId } : null
}
