import type { Kysely } from 'kysely'

export const keptProcesses = {
  number: 72,
  name: 'kept-processes',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // A process may wait for the next turn after the one that it was started for.
    for (const column of ['binding', 'kept', 'conversation_id'] as const)
      await db.schema.alterTable('processes').addColumn(column, 'text').execute()
    // The raw output of a process is removed some time after its end.
    await db.schema.createIndex('processes_by_spool').on('processes').column('spool').execute()
  },
}
