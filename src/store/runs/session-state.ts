/**
 * The stored lifecycle of sessions. core/session/lifecycle.ts decides each transition; here it is applied once, guarded
 * by the state that it was decided for (I3). The change feed reports it.
 */
import { type Kysely, sql } from 'kysely'
import type { SessionId } from '../../contract/ids.ts'
import type { SessionLifecycle } from '../../contract/session.ts'
import { type LifecycleFacts, type LifecycleTrigger, nextLifecycle } from '../../core/session/lifecycle.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { toSession } from './rows.ts'
import type { SessionRecord } from './session-records.ts'

type Db = Kysely<Tables>

/** Applies what the trigger means for the session. Does nothing if the session does not exist. */
export async function moveSession(
  tx: Tx,
  id: SessionId,
  trigger: LifecycleTrigger,
  at: Date,
): Promise<SessionLifecycle | null> {
  const facts = await readFacts(tx, id)
  if (!facts) return null
  const state = nextLifecycle(facts, trigger, at)
  if (state === facts.state) return state
  await tx
    .updateTable('sessions')
    .set({ state, state_at: at.getTime(), ...(state === 'active' ? { archived_at: null } : {}) })
    .where('id', '=', id)
    .where('state', '=', facts.state)
    .execute()
  return state
}

async function readFacts(db: Db, id: SessionId): Promise<LifecycleFacts | null> {
  const row = await db
    .selectFrom('sessions')
    .select(['state', 'last_used_at', 'finished'])
    .select((eb) => [
      eb
        .selectFrom('follow_ups')
        .select((f) => f.fn.countAll<number>().as('n'))
        .where('follow_ups.session_id', '=', id)
        .where('follow_ups.state', '=', sql.lit('planned'))
        .as('planned'),
      eb
        .selectFrom('leases')
        .select('leases.process_id')
        .where('leases.session_id', '=', id)
        .where('leases.process_id', 'is not', null)
        .as('process'),
    ])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return null
  return {
    state: row.state,
    lastActivityAt: new Date(Number(row.last_used_at)),
    finished: Number(row.finished) === 1,
    plannedFollowUps: Number(row.planned ?? 0),
    inUse: row.process !== null,
  }
}

export interface IdleQuery {
  /** Sessions that were last used before this time. */
  before: Date
  /** Continue after this session. */
  after: SessionRecord | null
  limit: number
}

/** Sessions that are not archived and that no process has open, least recently used first. */
export async function listIdleSessions(
  db: Db,
  { before, after, limit }: IdleQuery,
): Promise<SessionRecord[]> {
  let select = db
    .selectFrom('sessions')
    .selectAll()
    .where('archived_at', 'is', null)
    .where('last_used_at', '<', before.getTime())
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('leases')
            .select('leases.session_id')
            .whereRef('leases.session_id', '=', 'sessions.id')
            .where('leases.process_id', 'is not', null),
        ),
      ),
    )
    .orderBy('last_used_at')
    .orderBy('id')
    .limit(limit)
  if (after) {
    const at = after.lastUsedAt.getTime()
    select = select.where((eb) =>
      eb.or([eb('last_used_at', '>', at), eb.and([eb('last_used_at', '=', at), eb('id', '>', after.id)])]),
    )
  }
  return (await select.execute()).map(toSession)
}

/** Records that the session was archived, unless it has been used or has changed since. */
export async function noteArchived(
  tx: Tx,
  { id, state, lastUsedAt }: Pick<SessionRecord, 'id' | 'state' | 'lastUsedAt'>,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('sessions')
    .set({ archived_at: at.getTime() })
    .where('id', '=', id)
    .where('state', '=', state)
    .where('last_used_at', '=', lastUsedAt.getTime())
    .where('archived_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
