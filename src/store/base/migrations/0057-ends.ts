import type { Kysely } from 'kysely'

export const ends = {
  number: 57,
  name: 'ends',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // Costs and failures are summed up by the time at which runs and attempts ended.
    await db.schema.createIndex('runs_by_end').on('runs').column('ended_at').execute()
    await db.schema.createIndex('attempts_by_end').on('attempts').column('ended_at').execute()
  },
}
