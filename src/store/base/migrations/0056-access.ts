import type { Kysely } from 'kysely'

export const access = {
  number: 56,
  name: 'access',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema
      .createTable('tokens')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('scope', 'text', (c) => c.notNull())
      .addColumn('hash', 'text', (c) => c.notNull().unique())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('last_used_at', 'bigint')
      .addColumn('last_used_from', 'text')
      .addColumn('expires_at', 'bigint')
      .execute()
    await db.schema
      .createTable('audit')
      .addColumn('id', 'integer', (c) => c.primaryKey().autoIncrement())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('token_id', 'text')
      .addColumn('who', 'text', (c) => c.notNull())
      .addColumn('from_address', 'text')
      .addColumn('operation', 'text', (c) => c.notNull())
      .addColumn('subject', 'text')
      .addColumn('summary', 'text')
      .execute()
    await db.schema.createIndex('audit_by_subject').on('audit').columns(['subject', 'id']).execute()
  },
}
