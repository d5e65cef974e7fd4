/** Implements the public interface of sessions. */
import type { AgentRegistry } from '../../agents/registry.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import type { Session, SessionDetail } from '../../contract/session.ts'
import type { Clock } from '../../core/clock.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { describeOrigin, describeSession } from './describe.ts'
import { requireSession } from './require-session.ts'

export interface SessionDeps {
  store: Pick<
    Store,
    | 'listSessions'
    | 'getSession'
    | 'findSession'
    | 'listRuns'
    | 'findLeaseHolder'
    | 'findAnsweredPrompt'
    | 'getOrigin'
  >
  agents: Pick<AgentRegistry, 'find'>
  clock: Clock
  settings: { sessionIdleMs: number; resume: { maxAgeMs: number } }
}

const MAX_RUNS = 200

export function createSessions(deps: SessionDeps): {
  listSessions: (query: ListQuery) => Promise<Page<Session>>
  getSession: (id: string) => Promise<SessionDetail>
} {
  const { store, clock, settings } = deps
  const ages = { idleMs: settings.sessionIdleMs, maxAgeMs: settings.resume.maxAgeMs }
  return {
    listSessions: async (query) => {
      const { items, nextCursor } = await store.listSessions(query)
      return { items: items.map((session) => describeSession(session, ages, clock.now())), nextCursor }
    },
    getSession: async (id) => {
      const session = await requireSession(store, id)
      const transcript = await inspectTranscript(deps, session)
      const { items } = await store.listRuns({ limit: MAX_RUNS, sessionId: session.id })
      return {
        ...describeSession(session, ages, clock.now()),
        transcript,
        runIds: items.map((run) => run.id),
        heldBy: await store.findLeaseHolder(session.id),
        origin: describeOrigin(await store.getOrigin(session.id)),
      }
    },
  }
}

async function inspectTranscript(
  { agents, store }: SessionDeps,
  session: SessionRecord,
): Promise<SessionDetail['transcript']> {
  const configured = agents.find(session.agent)
  if (!configured) return { state: 'unknown', path: null, bytes: null }
  const { adapter, env } = configured
  const { state, path, bytes } = await adapter.inspectTranscript(session.agentSessionId, env, {
    workDir: session.workDir,
    answeredId: await store.findAnsweredPrompt(session),
  })
  return { state, path, bytes }
}
