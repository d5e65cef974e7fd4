import { type Kysely, sql } from 'kysely'

export const escalation = {
  number: 6,
  name: 'escalation',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema
      .alterTable('runs')
      .addColumn('refusals', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createTable('escalations')
      .addColumn('run_id', 'text', (c) => c.primaryKey())
      .addColumn('tier', 'integer', (c) => c.notNull())
      .addColumn('decision', 'text', (c) => c.notNull())
      .addColumn('reason', 'text', (c) => c.notNull())
      .addColumn('message', 'text', (c) => c.notNull())
      .addColumn('to_tier', 'integer')
      .addColumn('next_run_id', 'text')
      .addColumn('recommendation', 'text', (c) => c.notNull())
      .addColumn('decided_by', 'text', (c) => c.notNull())
      .addColumn('decided_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint')
      .execute()
    // Few escalations wait for a person among many that are decided.
    await sql`create index escalations_waiting on escalations (expires_at, run_id) where decision = 'ask'`.execute(
      db,
    )
  },
}
