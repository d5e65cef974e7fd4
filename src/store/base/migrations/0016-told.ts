import { type Kysely, sql } from 'kysely'

/**
 * The instructions that a session was given belong to the session: after a compaction it no longer has them, in
 * whatever conversation it is used. Until now they were recorded with the pin of a conversation. A session without
 * instructions is recorded as `none`.
 */
export const told = {
  number: 16,
  name: 'told',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema.alterTable('sessions').addColumn('told', 'text').execute()
    await db.schema
      .alterTable('sessions')
      .addColumn('compacted', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await sql`
      update sessions set told = coalesce(
        (select max(pins.instructions_hash) from pins where pins.session_id = sessions.id), 'none')
      where turns > 0`.execute(db)
    await db.schema.alterTable('pins').dropColumn('instructions_hash').execute()
    await db.schema.alterTable('attempts').renameColumn('instructions_hash', 'told').execute()
  },
}
