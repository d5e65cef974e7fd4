import { type Kysely, sql } from 'kysely'

export const processes = {
  number: 40,
  name: 'processes',
  up: async (db: Kysely<unknown>): Promise<void> => {
    const { schema } = db
    // An agent's OS process. Until now it was part of the row of the one attempt that it served.
    await schema
      .createTable('processes')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('machine_id', 'text')
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('agent', 'text', (c) => c.notNull())
      .addColumn('runtime', 'text')
      .addColumn('spool', 'text', (c) => c.notNull())
      .addColumn('fence', 'bigint', (c) => c.notNull())
      .addColumn('pid', 'integer')
      .addColumn('start_ticks', 'text')
      .addColumn('boot_id', 'text')
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('started_at', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .execute()
    await sql`create index processes_open on processes (id) where state <> 'gone'`.execute(db)
    await sql`
      insert into processes (id, session_id, agent, runtime, spool, fence, pid, start_ticks, boot_id, state, started_at, ended_at)
      select 'prc_' || substr(a.id, 5), a.session_id, coalesce(r.agent, ''), a.runtime, a.id, a.fence, a.pid,
        a.start_ticks, a.boot_id,
        case when a.state = 'ended' then 'gone' when a.pid is null then 'starting' else 'running' end,
        a.started_at, a.ended_at
      from attempts a left join runs r on r.id = a.run_id`.execute(db)

    await schema.alterTable('attempts').addColumn('process_id', 'text').execute()
    await sql`update attempts set process_id = 'prc_' || substr(id, 5)`.execute(db)
    await schema
      .alterTable('attempts')
      .addColumn('spool_from', 'bigint', (c) => c.notNull().defaultTo(0))
      .execute()
    await schema
      .alterTable('attempts')
      .addColumn('cost_from_usd', 'double precision', (c) => c.notNull().defaultTo(0))
      .execute()
    for (const column of ['pid', 'start_ticks', 'boot_id', 'runtime']) {
      await schema.alterTable('attempts').dropColumn(column).execute()
    }
    await sql`create index attempts_of_process on attempts (process_id)`.execute(db)

    // The process holds the lease on the session, for every attempt that it serves.
    await schema.alterTable('leases').addColumn('process_id', 'text').execute()
    await sql`update leases set process_id = 'prc_' || substr(attempt_id, 5) where attempt_id is not null`.execute(
      db,
    )
    await schema.alterTable('leases').dropColumn('attempt_id').execute()
  },
}
