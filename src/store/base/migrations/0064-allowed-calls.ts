import type { Kysely } from 'kysely'

export const allowedCalls = {
  number: 64,
  name: 'allowed-calls',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema
      .createTable('allowed_calls')
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('call_hash', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('allowed_calls_key', ['session_id', 'call_hash'])
      .execute()
  },
}
