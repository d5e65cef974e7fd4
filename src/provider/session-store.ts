/**
 * The Agent SDK's `SessionStore` on top of Reprise's database, so that the SDK keeps its transcripts there:
 * `query({ prompt, options: { sessionStore: provider.sessionStore, resume } })`. What is loaded is deep-equal to what was
 * appended, so nothing in it is redacted.
 *
 * The SDK makes the summary of a session with its own function `foldSessionSummary`, whose result only it understands.
 * With that function the store remembers the summaries, and makes those of sessions that have changed since anew. Without
 * it there is no `listSessionSummaries`, and the SDK loads each session to list them.
 */
import type { QueryEngine } from '../engine/queries/api.ts'

export interface SessionKey {
  projectKey: string
  sessionId: string
  subpath?: string | undefined
}

export interface SessionStoreEntry {
  type: string
  uuid?: string
  timestamp?: string
  [field: string]: unknown
}

export interface SessionStore {
  append: (key: SessionKey, entries: SessionStoreEntry[]) => Promise<void>
  load: (key: SessionKey) => Promise<SessionStoreEntry[] | null>
  listSessions: (projectKey: string) => Promise<{ sessionId: string; mtime: number }[]>
  delete: (key: SessionKey) => Promise<void>
  listSubkeys: (key: { projectKey: string; sessionId: string }) => Promise<string[]>
  listSessionSummaries?: (projectKey: string) => Promise<SessionSummary[]>
}

export interface SessionSummary {
  sessionId: string
  mtime: number
  data: Record<string, unknown>
}

/** The function of the same name of the Agent SDK. */
export type FoldSessionSummary = (
  previous: SessionSummary | undefined,
  key: { projectKey: string; sessionId: string },
  entries: SessionStoreEntry[],
  options: { mtime: number },
) => SessionSummary

export function createSessionStore(
  { transcripts }: Pick<QueryEngine, 'transcripts'>,
  fold: FoldSessionSummary | null = null,
): SessionStore {
  const load = async (key: SessionKey) =>
    (await transcripts.loadTranscript(key)) as SessionStoreEntry[] | null
  return {
    append: (key, entries) => transcripts.appendTranscript(key, entries, new Date()),
    load,
    listSessions: async (projectKey) =>
      (await transcripts.listTranscripts(projectKey)).map(({ sessionId, changedAt }) => ({
        sessionId,
        mtime: changedAt.getTime(),
      })),
    delete: (key) => transcripts.deleteTranscript(key),
    listSubkeys: (key) => transcripts.listSubpaths(key),
    ...(fold ? { listSessionSummaries: rememberSummaries({ transcripts, load, fold }) } : {}),
  }
}

function rememberSummaries({
  transcripts,
  load,
  fold,
}: Pick<QueryEngine, 'transcripts'> & Pick<SessionStore, 'load'> & { fold: FoldSessionSummary }) {
  const known = new Map<string, SessionSummary>()
  return async (projectKey: string): Promise<SessionSummary[]> => {
    const summaries: SessionSummary[] = []
    for (const { sessionId, changedAt } of await transcripts.listTranscripts(projectKey)) {
      const [id, mtime] = [JSON.stringify([projectKey, sessionId]), changedAt.getTime()]
      let summary = known.get(id)
      if (summary?.mtime !== mtime) {
        const key = { projectKey, sessionId }
        summary = fold(undefined, key, (await load(key)) ?? [], { mtime })
        known.set(id, summary)
      }
      summaries.push(summary)
    }
    return summaries
  }
}
