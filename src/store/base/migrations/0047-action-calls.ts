import { type Kysely, sql } from 'kysely'

export const actionCalls = {
  number: 47,
  name: 'action-calls',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // An action is claimed once, by a tool call or by the call of a program. It used to be claimed by the one and started by the other.
    const { schema } = db
    await schema.alterTable('actions').addColumn('call_id', 'text').execute()
    await sql`update actions set call_id = coalesce(guard_id, tool_use_id, id)`.execute(db)
    await schema.dropIndex('actions_of_attempt').execute()
    for (const column of ['tool_use_id', 'guard_id', 'line', 'started_at'])
      await schema.alterTable('actions').dropColumn(column).execute()
    await schema.createIndex('actions_of_call').on('actions').columns(['attempt_id', 'call_id']).execute()
  },
}
