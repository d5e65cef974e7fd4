import { type Kysely, sql } from 'kysely'

export const givenPrompts = {
  number: 32,
  name: 'given-prompts',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // Every follow-up that was given to a process which had been kept waiting, by the session of that process.
    await db.schema
      .createTable('given_prompts')
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('message_id', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('given_prompts_pk', ['session_id', 'message_id'])
      .execute()
    // Of the ones before, the newest message of each follow-up is all that is known.
    await sql`
      insert into given_prompts (session_id, message_id)
      select session_id, message_id from follow_ups where session_id is not null
      union
      select session_id, fired_message_id from follow_ups
      where session_id is not null and fired_message_id is not null
    `.execute(db)
  },
}
