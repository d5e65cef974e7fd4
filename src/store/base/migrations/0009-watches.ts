import { type Kysely, sql } from 'kysely'

export const watches = {
  number: 9,
  name: 'watches',
  up: async (db: Kysely<unknown>): Promise<void> => {
    const { schema } = db
    await schema
      .createTable('watches')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('definition', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('due_at', 'bigint')
      .addColumn('next_at', 'bigint')
      .addColumn('session_id', 'text')
      .addColumn('session_since', 'bigint')
      .addColumn('session_cycles', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('cycles', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('removed_at', 'bigint')
      .execute()
    await sql`create unique index watches_by_name on watches (name) where removed_at is null`.execute(db)
    await sql`create index watches_next on watches (next_at) where next_at is not null`.execute(db)
    await schema
      .createTable('cycles')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('watch_id', 'text', (c) => c.notNull())
      .addColumn('number', 'integer', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('trigger', 'text', (c) => c.notNull())
      .addColumn('reason', 'text')
      .addColumn('message', 'text')
      .addColumn('events', 'text', (c) => c.notNull())
      .addColumn('prompt', 'text')
      .addColumn('outcome', 'text')
      .addColumn('status', 'text')
      .addColumn('summary', 'text')
      .addColumn('renewed', 'text')
      .addColumn('root_run_id', 'text')
      .addColumn('due_at', 'bigint', (c) => c.notNull())
      .addColumn('started_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .addColumn('deadline_at', 'bigint')
      .execute()
    await sql`create index cycles_unfinished on cycles (watch_id, id) where state in ('queued', 'open')`.execute(
      db,
    )
    await schema.createIndex('cycles_of_watch').on('cycles').columns(['watch_id', 'id']).execute()
    await sql`create index cycles_of_events on cycles (watch_id, due_at) where trigger = 'event'`.execute(db)
    await sql`create index runs_of_cycle on runs (cycle_id) where cycle_id is not null`.execute(db)
    // Events that were sent to watches, so that the same event is not investigated twice.
    await schema
      .createTable('watch_events')
      .addColumn('watch_id', 'text', (c) => c.notNull())
      .addColumn('fingerprint', 'text', (c) => c.notNull())
      .addColumn('cycle_id', 'text', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('resolved_at', 'bigint')
      .addPrimaryKeyConstraint('watch_events_key', ['watch_id', 'fingerprint'])
      .execute()
    await schema
      .createTable('follow_ups')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('prompt', 'text', (c) => c.notNull())
      .addColumn('message_id', 'text', (c) => c.notNull())
      .addColumn('reason', 'text')
      .addColumn('created_by', 'text', (c) => c.notNull())
      .addColumn('run_id', 'text')
      .addColumn('root_run_id', 'text')
      .addColumn('session_id', 'text')
      .addColumn('cycle_id', 'text')
      .addColumn('tier', 'integer')
      .addColumn('attempt_id', 'text')
      .addColumn('tool_use_id', 'text')
      .addColumn('cron', 'text')
      .addColumn('time_zone', 'text')
      .addColumn('recurring', 'integer', (c) => c.notNull())
      .addColumn('relative', 'integer', (c) => c.notNull())
      .addColumn('due_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('fired_count', 'integer', (c) => c.notNull())
      .addColumn('fired_at', 'bigint')
      .addColumn('fired_run_id', 'text')
      .addColumn('fired_attempt_id', 'text')
      .addColumn('fired_message_id', 'text')
      .addColumn('cancelled_by', 'text')
      .addColumn('message', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .execute()
    await sql`create index follow_ups_due on follow_ups (due_at, id) where state = 'planned'`.execute(db)
    await sql`create index follow_ups_of_run on follow_ups (run_id) where run_id is not null`.execute(db)
    await sql`create index follow_ups_of_chain on follow_ups (root_run_id) where root_run_id is not null`.execute(
      db,
    )
    await sql`create index follow_ups_of_session on follow_ups (session_id) where state = 'planned'`.execute(
      db,
    )
    await sql`create index follow_ups_fired_in on follow_ups (fired_run_id) where fired_run_id is not null`.execute(
      db,
    )
    await sql`create unique index follow_ups_of_call on follow_ups (attempt_id, tool_use_id) where tool_use_id is not null`.execute(
      db,
    )
    await schema.alterTable('runs').addColumn('follow_up_id', 'text').execute()
  },
}
