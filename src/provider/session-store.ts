/**
 * The Agent SDK's `SessionStore` on top of Reprise's database, so that the SDK keeps its transcripts there:
 * `query({ prompt, options: { sessionStore: provider.sessionStore, resume } })`. What is loaded is deep-equal to what was
 * appended, so nothing in it is redacted.
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
}

export function createSessionStore({ transcripts }: Pick<QueryEngine, 'transcripts'>): SessionStore {
  return {
    append: (key, entries) => transcripts.appendTranscript(key, entries, new Date()),
    load: async (key) => (await transcripts.loadTranscript(key)) as SessionStoreEntry[] | null,
    listSessions: async (projectKey) =>
      (await transcripts.listTranscripts(projectKey)).map(({ sessionId, changedAt }) => ({
        sessionId,
        mtime: changedAt.getTime(),
      })),
    delete: (key) => transcripts.deleteTranscript(key),
    listSubkeys: (key) => transcripts.listSubpaths(key),
  }
}
