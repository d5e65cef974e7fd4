import type { Kysely } from 'kysely'

/**
 * How resumed turns used the prompt cache: the cache state that a session's next attempt should find, the use by each
 * attempt, and totals.
 */
export const cacheUse = {
  number: 15,
  name: 'cache-use',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    await schema.alterTable('attempts').addColumn('cache_use', 'text').execute()
    await schema.alterTable('sessions').addColumn('cache_state', 'text').execute()
    await schema
      .createTable('cache_totals')
      .addColumn('cause', 'text', (c) => c.primaryKey())
      .addColumn('turns', 'bigint', (c) => c.notNull())
      .addColumn('expected_tokens', 'bigint', (c) => c.notNull())
      .addColumn('read_tokens', 'bigint', (c) => c.notNull())
      .addColumn('written_tokens', 'bigint', (c) => c.notNull())
      .addColumn('rewritten_tokens', 'bigint', (c) => c.notNull())
      .addColumn('rewrite_usd', 'double precision', (c) => c.notNull())
      .addColumn('saved_usd', 'double precision', (c) => c.notNull())
      .execute()
  },
}
