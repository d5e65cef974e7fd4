import { type Kysely, sql } from 'kysely'

export const changes = {
  number: 42,
  name: 'changes',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // Changes, numbered in the order of the commits; see changes/changes.ts.
    await db.schema
      .createTable('changes')
      .addColumn('seq', 'bigint', (c) => c.primaryKey())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('state', 'text')
      .addColumn('at', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema.createIndex('changes_by_time').on('changes').column('at').execute()
    await db.schema
      .createTable('change_counter')
      .addColumn('id', 'integer', (c) => c.primaryKey())
      .addColumn('newest', 'bigint', (c) => c.notNull())
      .execute()
    await sql`insert into change_counter (id, newest) values (1, 0)`.execute(db)
  },
}
