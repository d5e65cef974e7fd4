/**
 * Follow-ups. planned → fired, cancelled or missed, once, guarded by state and by how often it has fired: whoever gives
 * its prompt to a session does so in the same transaction, so it is given once. A recurring one goes from planned to
 * planned until its last time.
 */
import { type Kysely, sql } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { FollowUpState } from '../../contract/follow-up.ts'
import type { Page } from '../../contract/http.ts'
import { type AttemptId, FollowUpId, type RunId, type SessionId } from '../../contract/ids.ts'
import { findMade, noteMade, type RequestKey } from '../base/request-keys.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/writer.ts'
import { admitTurn, type NewTurn } from '../conversations/turns.ts'
import { admitRun } from '../runs/admit-run.ts'
import type { NewRun, RunRecord } from '../runs/records.ts'
import type { FollowUpRecord } from './records.ts'
import { toFollowUp, toRow } from './rows.ts'

export interface Room {
  /** Planned ones of the same chain or session, and of all. */
  own: number
  all: number
}

/** There are too many; or what it belongs to is over, and nothing is to follow from it. */
export type NotAdded = 'full' | 'over'

/** What the call, or a request with the same key, asked for before is not asked for again: the one there is comes back. */
export async function addFollowUp(
  tx: Tx,
  record: FollowUpRecord,
  room: Room,
  key: RequestKey | null = null,
): Promise<FollowUpRecord | NotAdded> {
  const made = key && (await findMade(tx, key))
  const known =
    made !== null
      ? await getFollowUp(tx, made as FollowUpId)
      : record.call && (await findOfCall(tx, record.call))
  if (known) return known
  if (await isOver(tx, record)) return 'over'
  const planned = await countPlanned(tx, record)
  if (planned.own >= room.own || planned.all >= room.all) return 'full'
  if (key) await noteMade(tx, key, record.id)
  await tx.insertInto('follow_ups').values(toRow(record)).execute()
  return record
}

/** Its cycle has ended, or what it will end as is certain; or somebody cancels its run. */
async function isOver(tx: Tx, { runId, cycleId }: FollowUpRecord): Promise<boolean> {
  const cycle =
    cycleId &&
    (await tx.selectFrom('cycles').select(['state', 'outcome']).where('id', '=', cycleId).executeTakeFirst())
  if (cycle && (cycle.state !== 'open' || cycle.outcome !== null)) return true
  const cancelled =
    runId &&
    (await tx
      .selectFrom('runs')
      .select('id')
      .where('id', '=', runId)
      .where('state', '<>', 'settled')
      .where('cancel_requested_at', 'is not', null)
      .executeTakeFirst())
  return Boolean(cancelled)
}

export async function findOfCall(
  db: Kysely<Tables>,
  { attemptId, toolUseId }: NonNullable<FollowUpRecord['call']>,
): Promise<FollowUpRecord | null> {
  const row = await db
    .selectFrom('follow_ups')
    .selectAll()
    .where('attempt_id', '=', attemptId)
    .where('tool_use_id', '=', toolUseId)
    .executeTakeFirst()
  return row ? toFollowUp(row) : null
}

/** Of the chain, or where there is none of the session; and of all. */
export async function countPlanned(
  db: Kysely<Tables>,
  { rootRunId, sessionId }: Pick<FollowUpRecord, 'rootRunId' | 'sessionId'>,
): Promise<Room> {
  const planned = db
    .selectFrom('follow_ups')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('state', '=', sql.lit('planned'))
  const own = await (rootRunId === null
    ? planned.where('session_id', '=', sessionId)
    : planned.where('root_run_id', '=', rootRunId)
  ).executeTakeFirstOrThrow()
  const all = await planned.executeTakeFirstOrThrow()
  return { own: Number(own.n), all: Number(all.n) }
}

export interface FollowUpQuery {
  limit: number
  cursor?: string | undefined
  state?: FollowUpState | undefined
  runId?: RunId | undefined
  rootRunId?: RunId | undefined
}

/** Newest first; of a run: those it asked for, and those that were given to it. */
export async function listFollowUps(
  db: Kysely<Tables>,
  { limit, cursor, state, runId, rootRunId }: FollowUpQuery,
): Promise<Page<FollowUpRecord>> {
  let select = db
    .selectFrom('follow_ups')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (cursor !== undefined) {
    if (!FollowUpId.is(cursor))
      throw new RepriseError('bad-request', 'cursor: expected one that a list returned')
    select = select.where('id', '<', cursor)
  }
  if (state) select = select.where('state', '=', state)
  if (runId) select = select.where((eb) => eb.or([eb('run_id', '=', runId), eb('fired_run_id', '=', runId)]))
  if (rootRunId) select = select.where('root_run_id', '=', rootRunId)
  const rows = await select.execute()
  const items = rows.slice(0, limit).map(toFollowUp)
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
}

export async function getFollowUp(db: Kysely<Tables>, id: FollowUpId): Promise<FollowUpRecord | null> {
  const row = await db.selectFrom('follow_ups').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? toFollowUp(row) : null
}

/** Planned ones of a chain, or of a session where there is no chain. */
export async function listPlanned(
  db: Kysely<Tables>,
  { rootRunId, sessionId }: { rootRunId: RunId | null; sessionId: SessionId | null },
): Promise<FollowUpRecord[]> {
  const planned = db.selectFrom('follow_ups').selectAll().where('state', '=', sql.lit('planned'))
  const rows = await (rootRunId === null
    ? planned.where('session_id', '=', sessionId)
    : planned.where('root_run_id', '=', rootRunId)
  )
    .orderBy('due_at')
    .orderBy('id')
    .execute()
  return rows.map(toFollowUp)
}

/** What a run asked for and may still be kept waiting for, the most pressing first. */
export async function listPlannedOfRun(db: Kysely<Tables>, runId: RunId): Promise<FollowUpRecord[]> {
  const rows = await db
    .selectFrom('follow_ups')
    .selectAll()
    .where('run_id', '=', runId)
    .where('state', '=', sql.lit('planned'))
    .orderBy('due_at')
    .orderBy('id')
    .execute()
  return rows.map(toFollowUp)
}

/** Due now, and not to be given to a run that is still at work: while it is, it is the one to be given them. */
export async function listDue(db: Kysely<Tables>, now: Date, limit: number): Promise<FollowUpRecord[]> {
  const rows = await db
    .selectFrom('follow_ups as f')
    .selectAll('f')
    .where('f.state', '=', sql.lit('planned'))
    .where('f.due_at', '<=', now.getTime())
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs as r')
            .select('r.id')
            .whereRef('r.id', '=', 'f.run_id')
            .where('r.state', '<>', 'settled'),
        ),
      ),
    )
    .orderBy('f.due_at')
    .orderBy('f.id')
    .limit(limit)
    .execute()
  return rows.map(toFollowUp)
}

/** When the next one becomes due that is not due yet. */
export async function nextFollowUpAt(db: Kysely<Tables>, now: Date): Promise<Date | null> {
  const row = await db
    .selectFrom('follow_ups')
    .select('due_at')
    .where('state', '=', sql.lit('planned'))
    .where('due_at', '>', now.getTime())
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst()
  return row ? new Date(Number(row.due_at)) : null
}

/** When a recurring one is due again. */
export interface Again {
  dueAt: Date
  messageId: string
}

export type FiredAs = { run: NewRun } | { turn: NewTurn } | { attempt: { id: AttemptId; runId: RunId } }

/** Gives its prompt to a session. null: somebody else did, or it is not planned any more. */
export async function fireFollowUp(
  tx: Tx,
  followUp: Pick<FollowUpRecord, 'id' | 'firedCount'>,
  as: FiredAs,
  again: Again | null,
  at: Date,
): Promise<{ run: RunRecord | null } | null> {
  const fired = {
    fired_at: at.getTime(),
    fired_run_id: 'run' in as ? as.run.id : 'turn' in as ? as.turn.run.id : as.attempt.runId,
    fired_attempt_id: 'attempt' in as ? as.attempt.id : null,
  }
  const { numUpdatedRows } = await tx
    .updateTable('follow_ups')
    .set((eb) => ({
      ...fired,
      fired_message_id: eb.ref('message_id'),
      fired_count: eb('fired_count', '+', 1),
      ...(again
        ? { due_at: again.dueAt.getTime(), message_id: again.messageId }
        : { state: 'fired' as const, ended_at: at.getTime() }),
    }))
    .where('id', '=', followUp.id)
    .where('state', '=', 'planned')
    .where('fired_count', '=', followUp.firedCount)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return null
  if ('run' in as) return { run: (await admitRun(tx, as.run)).run }
  if ('turn' in as) return { run: (await admitTurn(tx, as.turn)).run }
  return { run: null }
}

export interface FollowUpEnd {
  state: 'cancelled' | 'missed'
  by: 'agent' | 'person' | null
  message: string | null
}

/** False if it is not planned any more. */
export async function endFollowUp(tx: Tx, id: FollowUpId, end: FollowUpEnd, at: Date): Promise<boolean> {
  return (await endPlanned(tx, 'id', id, end, at)) > 0
}

/** Of a cycle that ends, or a chain that is cancelled. */
export function endFollowUpsOf(tx: Tx, rootRunId: RunId, end: FollowUpEnd, at: Date): Promise<number> {
  return endPlanned(tx, 'root_run_id', rootRunId, end, at)
}

/** Of a run that is cancelled and in no chain: what it asked for. */
export function endFollowUpsOfRun(tx: Tx, runId: RunId, end: FollowUpEnd, at: Date): Promise<number> {
  return endPlanned(tx, 'run_id', runId, end, at)
}

async function endPlanned(
  tx: Tx,
  by: 'id' | 'root_run_id' | 'run_id',
  id: FollowUpId | RunId,
  { state, by: whom, message }: FollowUpEnd,
  at: Date,
): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('follow_ups')
    .set({ state, cancelled_by: whom, message, ended_at: at.getTime() })
    .where(by, '=', id as never)
    .where('state', '=', 'planned')
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** The newest that was given to a process of this run: what it is at. */
export async function findLiveOf(db: Kysely<Tables>, runId: RunId): Promise<FollowUpRecord | null> {
  const row = await db
    .selectFrom('follow_ups')
    .selectAll()
    .where('fired_run_id', '=', runId)
    .where('fired_attempt_id', 'is not', null)
    .orderBy('fired_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? toFollowUp(row) : null
}
