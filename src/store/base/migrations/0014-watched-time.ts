import type { Kysely } from 'kysely'

/** The working and waiting time of an attempt, in watched time, and how long a queued run was meant to wait. */
export const watchedTime = {
  number: 14,
  name: 'watched-time',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    await schema
      .alterTable('attempts')
      .addColumn('worked_ms', 'bigint', (c) => c.notNull().defaultTo(0))
      .execute()
    await schema
      .alterTable('attempts')
      .addColumn('waiting_ms', 'bigint', (c) => c.notNull().defaultTo(0))
      .execute()
    await schema.alterTable('runs').addColumn('wait_ms', 'bigint').execute()
  },
}
