/**
 * Whether a session is in use: it was used since then, a conversation or a watch continues in it, a run or a follow-up is
 * waiting to, or a session in use has its history. What runs did in such a session is the history that a new session would
 * be given, so it must stay. A session that a person deleted is not in use.
 */
import { type Kysely, sql } from 'kysely'
import type { SessionId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'

type Db = Kysely<Tables>

export interface UseOptions {
  /** Whether it counts that a conversation continues in the session. */
  pinned?: boolean
  /** Whether it counts that a session in use was started with the history of this one. */
  continued?: boolean
}

export async function isAnyInUse(
  db: Db,
  ids: readonly SessionId[],
  since: Date,
  options: UseOptions = {},
): Promise<boolean> {
  const seen = new Set<SessionId>()
  const queue = [...ids]
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    const session = await db
      .selectFrom('sessions')
      .select(['last_used_at', 'deleted_at'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!session || session.deleted_at !== null) continue
    if (Number(session.last_used_at) >= since.getTime()) return true
    if (await isExpected(db, id, options)) return true
    if (options.continued === false) continue
    const later = await db.selectFrom('sessions').select('id').where('continues', '=', id).execute()
    queue.push(...later.map((row) => row.id))
  }
  return false
}

/** Whether something will or may go on in the session. */
async function isExpected(db: Db, id: SessionId, { pinned = true }: UseOptions): Promise<boolean> {
  const { rows } = await sql`
    select 1 where exists (select 1 from leases where session_id = ${id} and process_id is not null)
      or exists (select 1 from runs where session_id = ${id} and state <> 'settled')
      or exists (select 1 from follow_ups where session_id = ${id} and state = 'planned')
      or exists (select 1 from watches where session_id = ${id} and removed_at is null)
      or exists (select 1 from pins where session_id = ${id} and ${pinned ? 1 : 0} = 1)`.execute(db)
  return rows.length > 0
}
