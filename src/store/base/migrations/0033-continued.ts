import type { Kysely } from 'kysely'

export const continued = {
  number: 33,
  name: 'continued',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    // A person continued the run: it is tried once more before Reprise gives up again.
    await schema
      .alterTable('runs')
      .addColumn('continued', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
  },
}
