import type { Kysely } from 'kysely'

export const places = {
  number: 28,
  name: 'places',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    // By which a directory is known again under another name.
    await schema.alterTable('sessions').addColumn('work_dir_id', 'text').execute()
  },
}
