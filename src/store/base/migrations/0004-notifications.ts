import { type Kysely, sql } from 'kysely'

export const notifications = {
  number: 4,
  name: 'notifications',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema
      .createTable('notifications')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('event', 'text', (c) => c.notNull())
      .addColumn('subject_kind', 'text', (c) => c.notNull())
      .addColumn('subject_id', 'text', (c) => c.notNull())
      .addColumn('occurrence', 'text', (c) => c.notNull())
      .addColumn('target', 'text', (c) => c.notNull())
      .addColumn('payload', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('tries', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('not_before', 'bigint')
      .addColumn('last_error', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .addUniqueConstraint('notifications_once', [
        'subject_id',
        'subject_kind',
        'event',
        'occurrence',
        'target',
      ])
      .execute()
    // Few notifications are pending among many that were sent.
    await sql`create index notifications_pending on notifications (not_before, id) where state = 'pending'`.execute(
      db,
    )
  },
}
