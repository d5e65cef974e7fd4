import { type Kysely, sql } from 'kysely'

export const pastCosts = {
  number: 62,
  name: 'past costs',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // What deleted runs have cost, by the half hour in which they ended.
    await db.schema
      .createTable('past_costs')
      .addColumn('key', 'text', (c) => c.primaryKey())
      .addColumn('bucket', 'bigint', (c) => c.notNull())
      .addColumn('agent', 'text', (c) => c.notNull())
      .addColumn('model', 'text')
      .addColumn('tier', 'integer')
      .addColumn('purpose', 'text', (c) => c.notNull())
      .addColumn('runs', 'integer', (c) => c.notNull())
      .addColumn('failed', 'integer', (c) => c.notNull())
      .addColumn('cancelled', 'integer', (c) => c.notNull())
      .addColumn('input_tokens', 'bigint', (c) => c.notNull())
      .addColumn('output_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cache_read_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cache_write_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cost_usd', 'double precision', (c) => c.notNull())
      .addColumn('saved_usd', 'double precision', (c) => c.notNull())
      .execute()
    await sql`create index past_costs_by_time on past_costs (bucket)`.execute(db)
    await sql`create index audit_by_time on audit (at)`.execute(db)
    await sql`create index runs_of_follow_up on runs (follow_up_id, ended_at) where follow_up_id is not null`.execute(
      db,
    )
  },
}
