import type { Kysely } from 'kysely'

export const requestKeys = {
  number: 10,
  name: 'request-keys',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    // What was created for a request with a key, for tables that have no column for the key.
    await schema
      .createTable('request_keys')
      .addColumn('key', 'text', (c) => c.primaryKey())
      .addColumn('request_hash', 'text', (c) => c.notNull())
      .addColumn('made', 'text', (c) => c.notNull())
      .execute()
  },
}
