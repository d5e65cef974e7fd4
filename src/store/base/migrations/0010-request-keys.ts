import type { Kysely } from 'kysely'

export const requestKeys = {
  number: 10,
  name: 'request-keys',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    // What was made for a request that came with a key, where the row itself has no place for it.
    await schema
      .createTable('request_keys')
      .addColumn('key', 'text', (c) => c.primaryKey())
      .addColumn('request_hash', 'text', (c) => c.notNull())
      .addColumn('made', 'text', (c) => c.notNull())
      .execute()
  },
}
