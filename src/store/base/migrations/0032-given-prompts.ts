import { type Kysely, sql } from 'kysely'

export const givenPrompts = {
  number: 32,
  name: 'given-prompts',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // Every follow-up prompt that was given to a kept process, by the session of that process.
    await db.schema
      .createTable('given_prompts')
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('message_id', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('given_prompts_pk', ['session_id', 'message_id'])
      .execute()
    // For earlier ones, only the newest message of each follow-up is known.
    await sql`
      insert into given_prompts (session_id, message_id)
      select session_id, message_id from follow_ups where session_id is not null
      union
      select session_id, fired_message_id from follow_ups
      where session_id is not null and fired_message_id is not null
    `.execute(db)
  },
}
