import type { Kysely } from 'kysely'

/**
 * A question that is edited while it is being answered is asked again by the same run, which keeps its place in the
 * lane.
 */
export const editedTurns = {
  number: 17,
  name: 'edited-turns',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    await schema
      .alterTable('runs')
      .addColumn('outdated_attempts', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await schema.alterTable('runs').addColumn('left_out', 'text').execute()
  },
}
