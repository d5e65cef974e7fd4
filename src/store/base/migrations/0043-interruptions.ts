import type { Kysely } from 'kysely'

export const interruptions = {
  number: 43,
  name: 'interruptions',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // The column has the name that the code uses: it counts against `maxResumes`, and not only crashes count.
    await db.schema.alterTable('runs').renameColumn('crash_count', 'interruptions').execute()
  },
}
