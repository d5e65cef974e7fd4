/** The tables of queries: given histories, files that tools used, and transcripts of the Agent SDK. */
import type { RunId } from '../../contract/ids.ts'

export interface QueryHistoriesTable {
  run_id: RunId
  messages: string
}

export interface ToolFilesTable {
  run_id: RunId
  tool_use_id: string
  path: string
  /** null: there was no such file. */
  hash: string | null
}

export interface SessionEntriesTable {
  project_key: string
  session_id: string
  /** Empty for the main transcript. */
  subpath: string
  seq: number
  uuid: string | null
  body: string
  at: number
}

declare module '../base/schema.ts' {
  interface Tables {
    query_histories: QueryHistoriesTable
    tool_files: ToolFilesTable
    session_entries: SessionEntriesTable
  }
}
