import type { Kysely } from 'kysely'

export const actions = {
  number: 7,
  name: 'actions',
  up: async (db: Kysely<unknown>): Promise<void> => {
    const { schema } = db
    await schema
      .createTable('actions')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('rule', 'text', (c) => c.notNull())
      .addColumn('service', 'text', (c) => c.notNull())
      .addColumn('scope', 'text')
      .addColumn('run_id', 'text', (c) => c.notNull())
      .addColumn('attempt_id', 'text', (c) => c.notNull())
      .addColumn('tool_use_id', 'text')
      .addColumn('guard_id', 'text')
      .addColumn('command', 'text', (c) => c.notNull())
      .addColumn('line', 'text', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('started_at', 'bigint')
      .execute()
    await schema.createIndex('actions_recent').on('actions').columns(['rule', 'at']).execute()
    await schema
      .createIndex('actions_of_attempt')
      .on('actions')
      .columns(['attempt_id', 'tool_use_id'])
      .execute()
  },
}
