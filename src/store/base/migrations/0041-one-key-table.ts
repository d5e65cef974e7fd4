import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'

interface KeyedRuns {
  runs: {
    id: string
    idempotency_key: string | null
    agent: string
    model: string | null
    work_dir: string
    conversation_id: string | null
    tier: number | null
    request: string
  }
  request_keys: { key: string; request_hash: string; made: string }
}

export const oneKeyTable = {
  number: 41,
  name: 'one-key-table',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // All idempotency keys are in one table; each kind of request has its own prefix.
    await sql`update request_keys set key = 'plan:' || key`.execute(db)
    await sql`
      insert into request_keys (key, request_hash, made)
      select 'job:' || idempotency_key, request_hash, id from jobs where idempotency_key is not null`.execute(
      db,
    )
    const keyed = db as Kysely<KeyedRuns>
    for (const row of await keyed
      .selectFrom('runs')
      .select(['id', 'idempotency_key', 'agent', 'model', 'work_dir', 'conversation_id', 'tier', 'request'])
      .where('idempotency_key', 'is not', null)
      .execute()) {
      await keyed
        .insertInto('request_keys')
        .values({ key: `run:${row.idempotency_key}`, request_hash: hashOf(row), made: row.id })
        .execute()
    }
    // The column stays in `runs`, unused: to drop a unique column, the whole table would have to be copied.
    await sql`update runs set idempotency_key = null where idempotency_key is not null`.execute(db)

    await sql`drop index jobs_state`.execute(db)
    await sql`alter table jobs rename to jobs_before`.execute(db)
    await db.schema
      .createTable('jobs')
      .addColumn('id', 'text', (c) => c.primaryKey())
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
    await sql`
      insert into jobs (id, run_id, state, attention, options, priority, max_budget_usd, max_budget_tokens, created_at, updated_at)
      select id, run_id, state, attention, options, priority, max_budget_usd, max_budget_tokens, created_at, updated_at
      from jobs_before`.execute(db)
    await sql`drop table jobs_before`.execute(db)
    await db.schema.createIndex('jobs_state').on('jobs').columns(['state', 'id']).execute()

    // At most one open cycle per watch.
    await sql`create unique index cycles_open on cycles (watch_id) where state = 'open'`.execute(db)

    // One row for each thing that only one transaction at a time may decide about; see base/key-lock.ts.
    await db.schema
      .createTable('key_locks')
      .addColumn('key', 'text', (c) => c.primaryKey())
      .addColumn('taken', 'bigint', (c) => c.notNull())
      .execute()
  },
}

/** Computes the hash as runs/admit-run.ts did when this migration was written. */
function hashOf(row: KeyedRuns['runs']): string {
  const { agent, model, conversation_id: conversation, tier, request } = row
  const asked = [agent, model, conversation, tier, conversation === null ? row.work_dir : null, request]
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 32)
}
