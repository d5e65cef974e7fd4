import { type Kysely, sql } from 'kysely'

export const kept = {
  number: 53,
  name: 'kept',
  up: async (db: Kysely<unknown>): Promise<void> => {
    const { schema } = db
    // Set when a person has deleted the session, alone or with its conversation. The row goes when its files are gone.
    await schema.alterTable('sessions').addColumn('deleted_at', 'bigint').execute()
    await schema.alterTable('sessions').addColumn('deleted_with', 'text').execute()
    await sql`create index sessions_deleted on sessions (id) where deleted_at is not null`.execute(db)
    await sql`create index sessions_by_use on sessions (last_used_at)`.execute(db)
    await sql`create index sessions_continued on sessions (continues) where continues is not null`.execute(db)
    // 1: the events of the run were deleted, except those about its attempts.
    await schema
      .alterTable('runs')
      .addColumn('events_swept', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await sql`create index runs_ended on runs (ended_at) where state = 'settled'`.execute(db)
    await sql`create index runs_with_events on runs (ended_at) where state = 'settled' and events_swept = 0`.execute(
      db,
    )
    await sql`create index request_keys_made on request_keys (made)`.execute(db)
    await sql`create index follow_ups_ended on follow_ups (ended_at) where state <> 'planned'`.execute(db)
    await sql`create index attempts_of_session on attempts (session_id)`.execute(db)
  },
}
