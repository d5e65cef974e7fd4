/** Implements the public interface of sessions. */
import type { AgentRegistry } from '../../agents/registry.ts'
import type { FollowUp } from '../../contract/follow-up.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import type { Session, SessionDetail, SessionFilters } from '../../contract/session.ts'
import type { FollowUpRecord } from '../../store/follow-ups/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { describeCopy, describeSession, describeSessionRun } from './describe.ts'
import { listFiles } from './files.ts'
import { requireSession } from './require-session.ts'

export interface SessionDeps {
  store: Pick<
    Store,
    | 'listSessions'
    | 'readTitles'
    | 'getSession'
    | 'findSession'
    | 'listContinuing'
    | 'listRuns'
    | 'listFollowUps'
    | 'findConversationOf'
    | 'findLeaseHolder'
    | 'findAnsweredPrompt'
    | 'getOrigin'
  >
  agents: Pick<AgentRegistry, 'find'>
  settings: { resume: { maxAgeMs: number } }
}

const MAX_LISTED = 200

export function createSessions(
  deps: SessionDeps,
  { describeFollowUp }: { describeFollowUp: (followUp: FollowUpRecord) => FollowUp },
): {
  listSessions: (query: ListQuery & SessionFilters) => Promise<Page<Session>>
  getSession: (id: string) => Promise<SessionDetail>
} {
  const { store, settings } = deps
  return {
    listSessions: async ({ status, ...query }) => {
      const { items, nextCursor } = await store.listSessions({ ...query, state: status })
      const titles = await store.readTitles(items.map(({ id }) => id))
      return {
        items: items.map((session) => describeSession(session, settings.resume, titles.get(session.id))),
        nextCursor,
      }
    },
    getSession: async (id) => {
      const session = await requireSession(store, id)
      const runs = (await store.listRuns({ limit: MAX_LISTED, sessionId: session.id })).items
      const followUps = await store.listFollowUps({ limit: MAX_LISTED, sessionId: session.id })
      return {
        ...describeSession(session, settings.resume, (await store.readTitles([session.id])).get(session.id)),
        transcript: await inspectTranscript(deps, session),
        files: await findFiles(deps, session),
        runIds: runs.map((run) => run.id),
        runs: runs.map(describeSessionRun),
        followUps: followUps.items.map((followUp) => describeFollowUp(followUp)),
        continues: session.continues,
        continuedBy: await store.listContinuing(session.id),
        conversationId: await store.findConversationOf(session.id),
        heldBy: await store.findLeaseHolder(session.id),
        copiedFrom: describeCopy(await store.getOrigin(session.id)),
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

async function findFiles(
  { agents }: SessionDeps,
  { agent, agentSessionId, workDir }: SessionRecord,
): Promise<SessionDetail['files']> {
  const configured = agents.find(agent)
  const files = await configured?.adapter.locateSession(agentSessionId, configured.env, workDir)
  return files ? listFiles(files) : []
}
