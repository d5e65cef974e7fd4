import type { Kysely } from 'kysely'

export const sandbox = {
  number: 44,
  name: 'sandbox',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // The sandbox of the run's last attempt: bubblewrap, unshare or none. null: it has not started, or started before this column.
    await db.schema.alterTable('runs').addColumn('sandbox', 'text').execute()
  },
}
