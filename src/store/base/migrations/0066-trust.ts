import type { Kysely } from 'kysely'

export const trust = {
  number: 66,
  name: 'trust',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema
      .createTable('trust_decisions')
      .addColumn('dir', 'text', (c) => c.primaryKey())
      .addColumn('decision', 'text', (c) => c.notNull())
      .addColumn('digest', 'text', (c) => c.notNull())
      .addColumn('files', 'text', (c) => c.notNull())
      .addColumn('decided_at', 'bigint', (c) => c.notNull())
      .execute()
    // Whether the settings of the work directory apply in the last attempt of the run.
    await db.schema.alterTable('runs').addColumn('directory_settings', 'text').execute()
  },
}
