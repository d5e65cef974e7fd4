import type { Kysely } from 'kysely'

export const outside = {
  number: 19,
  name: 'outside',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    // Messages in a session that were exchanged outside Reprise. `native_id` is the agent's own id, so that each is
    // imported once.
    await schema
      .createTable('outside_turns')
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('native_id', 'text', (c) => c.notNull())
      .addColumn('prompt', 'text', (c) => c.notNull())
      .addColumn('answer', 'text', (c) => c.notNull())
      .addColumn('in_session', 'integer', (c) => c.notNull())
      .addColumn('said_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('outside_turns_pk', ['session_id', 'native_id'])
      .execute()
    await schema.alterTable('messages').addColumn('origin', 'text').execute()
  },
}
