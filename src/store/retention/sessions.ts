/** Sessions whose rows may go: those that a person deleted (runs/delete-session.ts), and those that are not used any more. */
import { type Kysely, sql } from 'kysely'
import type { SessionId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { toSession } from '../runs/rows.ts'
import type { SessionRecord } from '../runs/session-records.ts'
import { isAnyInUse } from './sessions-in-use.ts'

type Db = Kysely<Tables>

export interface DeletedSession {
  session: SessionRecord
  /** Whether a person deleted the session itself, or a conversation that used it. */
  with: 'session' | 'conversation'
  /** A run still works in it. */
  held: boolean
  /** All ids that the agent used for it: it gets another one when its memory is cleared. */
  agentSessionIds: readonly string[]
}

export async function listDeletedSessions(db: Db): Promise<DeletedSession[]> {
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .select(
      sql<number>`exists (select 1 from leases l where l.session_id = sessions.id and l.process_id is not null)
        or exists (select 1 from runs r where r.session_id = sessions.id and r.state <> 'settled')`.as(
        'held',
      ),
    )
    .where('deleted_at', 'is not', null)
    .orderBy('id')
    .execute()
  return Promise.all(
    rows.map(async ({ held, ...row }) => ({
      session: toSession(row),
      with: row.deleted_with ?? 'session',
      held: Number(held) === 1,
      agentSessionIds: [...new Set([row.agent_session_id, ...(await listEarlierIds(db, row.id))])],
    })),
  )
}

/** The agent's ids of the session in its attempts, without those that are another session's now. */
async function listEarlierIds(db: Db, id: SessionId): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct agent_session_id as id from attempts where session_id = ${id} and not exists (
      select 1 from sessions s where s.agent_session_id = attempts.agent_session_id and s.id <> ${id})`.execute(
    db,
  )
  return rows.map((row) => row.id)
}

/** Sessions that have not been used since, oldest use first. */
export async function listUnusedSessions(db: Db, before: Date): Promise<SessionId[]> {
  const rows = await db
    .selectFrom('sessions')
    .select('id')
    .where('last_used_at', '<', before.getTime())
    .where('deleted_at', 'is', null)
    .orderBy('last_used_at')
    .execute()
  const unused: SessionId[] = []
  for (const { id } of rows) if (await mayForget(db, id, before)) unused.push(id)
  return unused
}

/** Whether nothing refers to the session: no run, no later session that has its history, and nothing that is going on. */
async function mayForget(db: Db, id: SessionId, before: Date): Promise<boolean> {
  const { rows } = await sql`
    select 1 where exists (select 1 from runs where session_id = ${id})
      or exists (select 1 from attempts where session_id = ${id})
      or exists (select 1 from sessions where continues = ${id})`.execute(db)
  return rows.length === 0 && !(await isAnyInUse(db, [id], before))
}

/** Returns false if the session is needed again. */
export async function forgetUnusedSession(tx: Tx, id: SessionId, before: Date): Promise<boolean> {
  if (!(await mayForget(tx, id, before))) return false
  await forgetSession(tx, id)
  return true
}

export async function forgetSession(tx: Tx, id: SessionId): Promise<void> {
  await tx.updateTable('sessions').set({ continues: null }).where('continues', '=', id).execute()
  for (const table of [
    'outside_turns',
    'given_prompts',
    'session_origins',
    'leases',
    'allowed_calls',
  ] as const)
    await tx.deleteFrom(table).where('session_id', '=', id).execute()
  await tx.deleteFrom('sessions').where('id', '=', id).execute()
}
