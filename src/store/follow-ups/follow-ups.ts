/**
 * Follow-ups. planned → fired, cancelled or missed, once. Each transition is guarded by the state and by how often the
 * follow-up has fired, and its prompt is given to a session in the same transaction, so it is given once. A recurring
 * follow-up returns to planned until its last time.
 */
import { type Kysely, sql } from 'kysely'
import type { AttemptId, FollowUpId, RunId } from '../../contract/ids.ts'
import { lockKey } from '../base/key-lock.ts'
import { claimKey, findMade, type RequestKey } from '../base/request-keys.ts'
import type { Tables } from '../base/schema.ts'
import type { PlansEnd, PlansOf, RunListener, Tx } from '../base/transaction.ts'
import { admitRun } from '../runs/admit-run.ts'
import type { NewRun, RunAdmission, RunRecord } from '../runs/records.ts'
import { moveSession } from '../runs/session-state.ts'
import { findOfCall, getFollowUp } from './follow-up-queries.ts'
import type { FollowUpRecord } from './records.ts'
import { toRow } from './rows.ts'

export interface Room {
  /** The number of planned follow-ups of the same chain or session, and in total. */
  own: number
  all: number
}

/** `full`: too many are planned. `over`: its cycle or run has ended, and nothing may be planned for it. */
export type NotAdded = 'full' | 'over'

/** If the same tool call, or a request with the same key, asked for it before, returns the existing follow-up. */
export async function addFollowUp(
  tx: Tx,
  record: FollowUpRecord,
  room: Room,
  key: RequestKey | null = null,
): Promise<FollowUpRecord | NotAdded> {
  await lockKey(tx, 'follow-ups')
  const made = key && (await findMade(tx, 'plan', key))
  const known =
    made !== null
      ? await getFollowUp(tx, made as FollowUpId)
      : record.call && (await findOfCall(tx, record.call))
  if (known) return known
  if (await isOver(tx, record)) return 'over'
  const planned = await countPlanned(tx, record)
  if (planned.own >= room.own || planned.all >= room.all) return 'full'
  if (key) await claimKey(tx, 'plan', key, record.id)
  await tx.insertInto('follow_ups').values(toRow(record)).execute()
  if (record.sessionId) await moveSession(tx, record.sessionId, { kind: 'plan' }, record.createdAt)
  return record
}

/** Whether its cycle accepts no more follow-ups, or its run is being cancelled. */
async function isOver(tx: Tx, { runId, cycleId }: FollowUpRecord): Promise<boolean> {
  for (const { isOver } of tx.listeners) if (cycleId && (await isOver?.(tx, cycleId))) return true
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

/** Counts those of the chain, or of the session if there is no chain; and all. */
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

/** When a recurring follow-up is due again. */
export interface Again {
  dueAt: Date
  messageId: string
}

export type FiredAs =
  | { run: NewRun }
  /** The run is admitted by another feature, in the same transaction. */
  | { admission: RunAdmission }
  | { attempt: { id: AttemptId; runId: RunId } }

/** Gives its prompt to a session. null: it was fired already, or is not planned any more. */
export async function fireFollowUp(
  tx: Tx,
  followUp: Pick<FollowUpRecord, 'id' | 'firedCount'>,
  as: FiredAs,
  again: Again | null,
  at: Date,
): Promise<{ run: RunRecord | null } | null> {
  const fired = {
    fired_at: at.getTime(),
    fired_run_id: 'run' in as ? as.run.id : 'admission' in as ? as.admission.runId : as.attempt.runId,
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
  if ('admission' in as) return { run: await as.admission.admit(tx) }
  return { run: null }
}

/** Returns false if it is not planned any more. */
export async function endFollowUp(tx: Tx, id: FollowUpId, end: PlansEnd, at: Date): Promise<boolean> {
  return (await endPlanned(tx, 'id', id, end, at)) > 0
}

/** Ends the planned follow-ups of a run or of a chain. Returns how many there were. */
export function endPlans(tx: Tx, of: PlansOf, end: PlansEnd, at: Date): Promise<number> {
  return 'runId' in of
    ? endPlanned(tx, 'run_id', of.runId, end, at)
    : endPlanned(tx, 'root_run_id', of.rootRunId, end, at)
}

export const followUpListener: RunListener = {
  plansEnded: async (tx, of, end, at) => {
    await endPlans(tx, of, end, at)
  },
}

async function endPlanned(
  tx: Tx,
  by: 'id' | 'root_run_id' | 'run_id',
  id: FollowUpId | RunId,
  { state, by: whom, message }: PlansEnd,
  at: Date,
): Promise<number> {
  const ended = await tx
    .updateTable('follow_ups')
    .set({ state, cancelled_by: whom, message, ended_at: at.getTime() })
    .where(by, '=', id as never)
    .where('state', '=', 'planned')
    .returning('session_id')
    .execute()
  for (const session of new Set(ended.map((row) => row.session_id))) {
    if (session) await moveSession(tx, session, { kind: 'plan' }, at)
  }
  return ended.length
}
