import type { Kysely } from 'kysely'

export const runMessages = {
  number: 73,
  name: 'run-messages',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema
      .createTable('run_messages')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('run_id', 'text', (c) => c.notNull())
      .addColumn('request_key', 'text')
      .addColumn('text', 'text', (c) => c.notNull())
      .addColumn('sender', 'text')
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('said_at', 'bigint', (c) => c.notNull())
      .addColumn('read_at', 'bigint')
      .addColumn('read_by', 'text')
      .addColumn('next_run_id', 'text')
      .addColumn('closed_at', 'bigint')
      .addUniqueConstraint('run_messages_key', ['run_id', 'request_key'])
      .execute()
    await db.schema
      .createIndex('run_messages_by_run')
      .on('run_messages')
      .columns(['run_id', 'said_at'])
      .execute()
    await db.schema.createIndex('run_messages_open').on('run_messages').column('closed_at').execute()
  },
}
