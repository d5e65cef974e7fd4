import type { Kysely } from 'kysely'

export const eventsTaken = {
  number: 74,
  name: 'events-taken',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // The cycle whose agent was told the events of a skipped one.
    await db.schema.alterTable('cycles').addColumn('taken_by', 'text').execute()
  },
}
