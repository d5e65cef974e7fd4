import type { Kysely } from 'kysely'

export const attemptContext = {
  number: 76,
  name: 'attempt-context',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // How full the context was after the attempt. It is not known for attempts that ended before.
    await db.schema.alterTable('attempts').addColumn('context_tokens', 'bigint').execute()
    await db.schema.alterTable('attempts').addColumn('context_window', 'bigint').execute()
  },
}
