/** Checks whether a request can be executed at all. */
import type { AgentRegistry } from '../../agents/registry.ts'
import type { CreateRun } from '../../contract/create-run.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import { checkWorkDir } from '../base/work-dir.ts'
import { requireSession } from '../sessions/require-session.ts'

export interface CheckDeps {
  store: Pick<Store, 'getSession' | 'findSession' | 'findConversationOf'>
  agents: Pick<AgentRegistry, 'defaultName' | 'runtime'>
}

export interface Checked {
  agent: string
  session: SessionId | null
  /** The work directory's real path. */
  place: string
}

/** Checks that the session, the agent and the directory exist. */
export async function checkRequest(
  { store, agents }: CheckDeps,
  request: Pick<CreateRun, 'agent' | 'sessionId' | 'workDir'>,
): Promise<Checked> {
  const session = request.sessionId ? await requireSession(store, request.sessionId) : null
  const conversation = session && (await store.findConversationOf(session.id))
  if (conversation) {
    throw new RepriseError('conflict', `session ${session.id} belongs to the conversation ${conversation}`, {
      hint: `Send the prompt to the conversation: reprise chat ${conversation} (POST /api/conversations/${conversation}/turns).`,
    })
  }
  const agent = request.agent ?? session?.agent ?? agents.defaultName
  await agents.runtime(agent)
  return { agent, session: session?.id ?? null, place: await checkWorkDir(request.workDir) }
}
