import { type Kysely, sql } from 'kysely'

export const quarantine = {
  number: 20,
  name: 'quarantine',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await sql`create index runs_quarantined on runs (id) where outcome_name = 'quarantined'`.execute(db)
  },
}
