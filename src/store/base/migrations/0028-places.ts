import type { Kysely } from 'kysely'

export const places = {
  number: 28,
  name: 'places',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    // Identifies a directory after it was renamed.
    await schema.alterTable('sessions').addColumn('work_dir_id', 'text').execute()
  },
}
