import type { Kysely } from 'kysely'

export const heldBack = {
  number: 8,
  name: 'held-back',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    await schema.alterTable('attempts').addColumn('held_from', 'bigint').execute()
  },
}
