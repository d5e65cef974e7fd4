import type { Kysely } from 'kysely'

export const queries = {
  number: 51,
  name: 'queries',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // The history that the caller of a query gave, as long as a session may need it.
    await db.schema
      .createTable('query_histories')
      .addColumn('run_id', 'text', (c) => c.primaryKey())
      .addColumn('messages', 'text', (c) => c.notNull())
      .execute()
    // The content of files when a tool had read or written them.
    await db.schema
      .createTable('tool_files')
      .addColumn('run_id', 'text', (c) => c.notNull())
      .addColumn('tool_use_id', 'text', (c) => c.notNull())
      .addColumn('path', 'text', (c) => c.notNull())
      .addColumn('hash', 'text')
      .addPrimaryKeyConstraint('tool_files_key', ['run_id', 'tool_use_id', 'path'])
      .execute()
    // Transcripts that the Agent SDK keeps in Reprise.
    await db.schema
      .createTable('session_entries')
      .addColumn('project_key', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('subpath', 'text', (c) => c.notNull())
      .addColumn('seq', 'bigint', (c) => c.notNull())
      .addColumn('uuid', 'text')
      .addColumn('body', 'text', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('session_entries_key', ['project_key', 'session_id', 'subpath', 'seq'])
      .execute()
    await db.schema
      .createIndex('session_entries_by_uuid')
      .on('session_entries')
      .columns(['project_key', 'session_id', 'subpath', 'uuid'])
      .unique()
      .execute()
  },
}
