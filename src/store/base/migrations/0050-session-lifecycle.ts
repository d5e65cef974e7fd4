import { type Kysely, sql } from 'kysely'

/**
 * The lifecycle and the totals of sessions; see core/session/lifecycle.ts. Sessions from before have no recorded state:
 * those whose newest run completed count as completed, others that were used as active, until the next look at them.
 * Their totals are those of the runs that ended in them.
 */
export const sessionLifecycle = {
  number: 50,
  name: 'session-lifecycle',
  up: async (db: Kysely<unknown>): Promise<void> => {
    const count = (name: string) =>
      db.schema
        .alterTable('sessions')
        .addColumn(name, 'bigint', (c) => c.notNull().defaultTo(0))
        .execute()
    await db.schema
      .alterTable('sessions')
      .addColumn('state', 'text', (c) => c.notNull().defaultTo('created'))
      .execute()
    // Since when it is in this state.
    await db.schema.alterTable('sessions').addColumn('state_at', 'bigint').execute()
    for (const name of [
      'messages',
      'input_tokens',
      'output_tokens',
      'cache_read_tokens',
      'cache_write_tokens',
    ])
      await count(name)
    // Why the model stopped last, in the agent's words; and 1 if it ended its turn by itself.
    await db.schema.alterTable('sessions').addColumn('stop_reason', 'text').execute()
    await count('finished')
    await db.schema.alterTable('sessions').addColumn('archived_at', 'bigint').execute()
    // adopted: a person had made it without Reprise. null: Reprise made it.
    await db.schema.alterTable('sessions').addColumn('origin', 'text').execute()
    await sql`
      update sessions set
        messages = turns * 2,
        state_at = last_used_at,
        stop_reason = (select r.outcome_name from runs r
          where r.session_id = sessions.id and r.state = 'settled' order by r.id desc limit 1)`.execute(db)
    await sql`
      update sessions set
        finished = case when stop_reason = 'completed' then 1 else 0 end,
        state = case when turns = 0 then 'created' when stop_reason = 'completed' then 'completed' else 'active' end`.execute(
      db,
    )
    await sql`
      update sessions set
        input_tokens = t.input, output_tokens = t.output, cache_read_tokens = t.read, cache_write_tokens = t.written
      from (select session_id, coalesce(sum(input_tokens), 0) as input, coalesce(sum(output_tokens), 0) as output,
          coalesce(sum(cache_read_tokens), 0) as read, coalesce(sum(cache_write_tokens), 0) as written
        from runs where session_id is not null group by session_id) as t
      where t.session_id = sessions.id`.execute(db)
    await db.schema.createIndex('sessions_by_continued').on('sessions').column('continues').execute()
    await db.schema.createIndex('attempts_by_agent_id').on('attempts').column('agent_session_id').execute()
    await db.schema
      .createIndex('follow_ups_in_session')
      .on('follow_ups')
      .columns(['session_id', 'id'])
      .execute()
    await sql`create index sessions_open on sessions (last_used_at) where archived_at is null`.execute(db)
  },
}
