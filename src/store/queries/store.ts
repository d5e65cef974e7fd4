/** The store interface of queries: their histories, the files that tools used, and transcripts of the Agent SDK. */
import type { Kysely } from 'kysely'
import type { RunId } from '../../contract/ids.ts'
import type { HistoryMessage } from '../../contract/query.ts'
import type { Tables } from '../base/schema.ts'
import type { RunEffect, Write } from '../base/transaction.ts'
import { admitRun } from '../runs/admit-run.ts'
import type { NewRun, RunRecord } from '../runs/records.ts'
import type { NewSession } from '../runs/session-records.ts'
import { insertSession } from '../runs/sessions.ts'
import * as entries from './entries.ts'

export interface ToolFile {
  runId: RunId
  toolUseId: string
  path: string
  hash: string | null
}

export interface QueryStore {
  /** Stores a query with the history that its caller gave, and the session that it continues if that is not known yet. */
  admitQuery: (
    run: NewRun,
    history: readonly HistoryMessage[],
    session: NewSession | null,
  ) => Promise<RunRecord>
  getHistory: (runId: RunId) => Promise<HistoryMessage[]>
  /** The first note about a file and a tool call counts. */
  noteToolFiles: (files: readonly ToolFile[]) => Promise<void>
  listToolFiles: (runIds: readonly RunId[]) => Promise<ToolFile[]>

  appendTranscript: (
    key: entries.TranscriptKey,
    added: readonly entries.TranscriptEntry[],
    at: Date,
  ) => Promise<void>
  /** null: nothing was ever appended. */
  loadTranscript: (key: entries.TranscriptKey) => Promise<entries.TranscriptEntry[] | null>
  listTranscripts: (projectKey: string) => Promise<{ sessionId: string; changedAt: Date }[]>
  listSubpaths: (key: entries.TranscriptKey) => Promise<string[]>
  deleteTranscript: (key: entries.TranscriptKey) => Promise<void>
}

export function createQueryStore(reader: Kysely<Tables>, write: Write): QueryStore {
  return {
    admitQuery: (run, history, session) =>
      write(async (tx) => {
        if (session) {
          await insertSession(tx, session)
          const { turns, lastUsedAt } = session
          await tx
            .updateTable('sessions')
            .set({ turns, state: 'paused', state_at: lastUsedAt.getTime(), origin: 'adopted' })
            .where('id', '=', session.id)
            .execute()
        }
        if (history.length > 0) {
          const messages = JSON.stringify(history)
          await tx.insertInto('query_histories').values({ run_id: run.id, messages }).execute()
        }
        return (await admitRun(tx, run)).run
      }),
    getHistory: async (runId) => {
      const row = await reader
        .selectFrom('query_histories')
        .select('messages')
        .where('run_id', '=', runId)
        .executeTakeFirst()
      return row ? (JSON.parse(row.messages) as HistoryMessage[]) : []
    },
    noteToolFiles: (files) =>
      write(async (tx) => {
        for (const { runId: run_id, toolUseId: tool_use_id, path, hash } of files) {
          await tx
            .insertInto('tool_files')
            .values({ run_id, tool_use_id, path, hash })
            .onConflict((oc) => oc.doNothing())
            .execute()
        }
      }),
    listToolFiles: async (runIds) => {
      if (runIds.length === 0) return []
      const rows = await reader
        .selectFrom('tool_files')
        .selectAll()
        .where('run_id', 'in', [...runIds])
        .execute()
      return rows.map((row) => ({
        runId: row.run_id,
        toolUseId: row.tool_use_id,
        path: row.path,
        hash: row.hash,
      }))
    },
    appendTranscript: (key, added, at) => write((tx) => entries.appendEntries(tx, key, added, at)),
    loadTranscript: (key) => entries.loadEntries(reader, key),
    listTranscripts: (projectKey) => entries.listTranscripts(reader, projectKey),
    listSubpaths: (key) => entries.listSubpaths(reader, key),
    deleteTranscript: (key) => write((tx) => entries.deleteEntries(tx, key)),
  }
}

/** The changes that the end of a query causes. */
export interface QueryEffects {
  /** The history was not given to a new session, so nothing refers to it any more. */
  forgetHistory: () => RunEffect
}

export const queryEffects: QueryEffects = {
  forgetHistory: () => async (tx, run) => {
    await tx.deleteFrom('query_histories').where('run_id', '=', run.id).execute()
  },
}
