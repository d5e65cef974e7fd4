import type { Kysely } from 'kysely'

export const transfers = {
  number: 52,
  name: 'transfers',
  up: async ({ schema }: Kysely<unknown>): Promise<void> => {
    // Where a session comes from that began as a copy of another one. `cost_usd` is what the copied part had cost: the
    // agent's own total begins there.
    await schema
      .createTable('session_origins')
      .addColumn('session_id', 'text', (c) => c.primaryKey())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('from_session_id', 'text')
      .addColumn('from_agent_session_id', 'text', (c) => c.notNull())
      .addColumn('message_id', 'text')
      .addColumn('cost_usd', 'real')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .execute()
    // 1: the turn was copied from the session's origin, and not said outside Reprise.
    await schema
      .alterTable('outside_turns')
      .addColumn('copied', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    // The position of the session when the checkpoint was taken.
    await schema.alterTable('checkpoints').addColumn('session_id', 'text').execute()
    await schema.alterTable('checkpoints').addColumn('message_id', 'text').execute()
    // The newest rewind of the job, as JSON.
    await schema.alterTable('jobs').addColumn('rewound', 'text').execute()
  },
}
