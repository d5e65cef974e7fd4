import { type Kysely, sql } from 'kysely'

export const jobs = {
  number: 3,
  name: 'jobs',
  up: async (db: Kysely<unknown>): Promise<void> => {
    const { schema } = db
    await schema
      .createTable('jobs')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('idempotency_key', 'text', (c) => c.unique())
      .addColumn('request_hash', 'text', (c) => c.notNull())
      .addColumn('run_id', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('attention', 'text')
      .addColumn('options', 'text', (c) => c.notNull())
      .addColumn('priority', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('max_budget_usd', 'double precision')
      .addColumn('max_budget_tokens', 'bigint')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .execute()
    await schema.createIndex('jobs_state').on('jobs').columns(['state', 'id']).execute()

    await schema
      .createTable('checkpoints')
      .addColumn('job_id', 'text', (c) => c.notNull())
      .addColumn('number', 'integer', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('ref', 'text', (c) => c.notNull())
      .addColumn('commit_id', 'text', (c) => c.notNull())
      .addColumn('tree', 'text', (c) => c.notNull())
      .addColumn('head', 'text')
      .addColumn('attempt_id', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('checkpoints_pk', ['job_id', 'number'])
      .execute()

    await schema
      .alterTable('runs')
      .addColumn('priority', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await schema.alterTable('runs').addColumn('place', 'text').execute()
    await schema
      .alterTable('runs')
      .addColumn('holds_place', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await schema
      .alterTable('runs')
      .addColumn('model_calls', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await schema
      .alterTable('runs')
      .addColumn('tool_calls', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    // Contains every column that decides whether a run may start, because reading the row itself means reading a long
    // prompt first.
    await sql`create index runs_queue on runs (priority desc, id, not_before, agent, place, lane) where state = 'queued'`.execute(
      db,
    )
    await sql`create index runs_holding on runs (place, attempt_count, id) where state = 'queued' and holds_place = 1`.execute(
      db,
    )
    await sql`create index runs_due on runs (not_before) where state = 'queued'`.execute(db)
    await sql`create index runs_job on runs (job_id, id) where job_id is not null`.execute(db)
  },
}
