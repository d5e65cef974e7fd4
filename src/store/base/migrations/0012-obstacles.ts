import type { Kysely } from 'kysely'

export const obstacles = {
  number: 12,
  name: 'obstacles',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    // Open limits and outages. An empty model stands for all models of the account.
    await schema
      .createTable('obstacles')
      .addColumn('account', 'text', (c) => c.notNull())
      .addColumn('model', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('message', 'text', (c) => c.notNull())
      .addColumn('since', 'bigint', (c) => c.notNull())
      .addColumn('next_try_at', 'bigint', (c) => c.notNull())
      .addColumn('resets_at', 'bigint')
      .addColumn('failures', 'integer', (c) => c.notNull())
      .addColumn('last_failure_at', 'bigint', (c) => c.notNull())
      .addColumn('last_attempt_id', 'text', (c) => c.notNull())
      .addColumn('probe_run_id', 'text')
      .addColumn('probe_since', 'bigint')
      .addPrimaryKeyConstraint('obstacles_pk', ['account', 'model'])
      .execute()
    // The obstacle that a queued run waits behind.
    await schema.alterTable('runs').addColumn('held_by', 'text').execute()
  },
}
