/**
 * Events that came while a cycle of their watch was open.
 *
 * They are stored in a queued cycle (watch-events.ts), which starts when the open one has ended. Until then the agent of
 * the open cycle is told them. When it has read one, the event moves to the open cycle, in the transaction that records
 * the message as read. A queued cycle without events left is skipped. So an event is in exactly one cycle at any time, and
 * if nobody reads it, a cycle of its own starts.
 */
import type { Kysely } from 'kysely'
import type { WatchEvent } from '../../contract/cycle.ts'
import type { AttemptId, CycleId, RunId, SessionId, WatchId } from '../../contract/ids.ts'
import { lockKey } from '../base/key-lock.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { markRead, sayToRun } from '../runs/messages.ts'
import { getCycle, listUnfinished } from './cycle-queries.ts'
import type { CycleRecord } from './records.ts'

/** An event in a queued cycle of the watch. */
export interface WaitingEvent {
  watch: string
  /** The queued cycle. */
  cycle: Pick<CycleRecord, 'id' | 'trigger' | 'reason'>
  event: WatchEvent
}

/** The events that wait behind this cycle, oldest first; none if the cycle is not open. */
export async function listWaitingEvents(db: Kysely<Tables>, cycleId: CycleId): Promise<WaitingEvent[]> {
  const open = await getCycle(db, cycleId)
  if (open?.state !== 'open') return []
  const queued = (await listUnfinished(db, open.watchId)).filter(({ state }) => state === 'queued')
  if (queued.every(({ events }) => events.length === 0)) return []
  const { name } = await db
    .selectFrom('watches')
    .select('name')
    .where('id', '=', open.watchId)
    .executeTakeFirstOrThrow()
  return queued.flatMap((cycle) => cycle.events.map((event) => ({ watch: name, cycle, event })))
}

/** An event that the agent of the open cycle has read. */
export interface TakenEvent {
  /** The queued cycle that has it. */
  cycleId: CycleId
  fingerprint: string
  message: { id: string; text: string; from: string }
}

/** Moves events to the open cycle. An event that is not in its queued cycle any more was moved before. */
export async function takeEvents(
  tx: Tx,
  openId: CycleId,
  attempt: { id: AttemptId; runId: RunId; sessionId: SessionId },
  taken: readonly TakenEvent[],
  at: Date,
): Promise<void> {
  const { watchId } = (await getCycle(tx, openId)) ?? {}
  if (watchId === undefined) return
  await lockKey(tx, `watch ${watchId}`)
  for (const { cycleId, fingerprint, message } of taken) {
    const open = await getCycle(tx, openId)
    const queued = await getCycle(tx, cycleId)
    const event = queued?.events.find((one) => one.fingerprint === fingerprint)
    if (open?.state !== 'open' || queued?.state !== 'queued' || !event) continue
    await setEvents(tx, open.id, [...open.events, event])
    await remove(tx, queued, event, open, at)
    await noteCycle(tx, watchId, fingerprint, open.id)
    await sayToRun(tx, { ...message, runId: attempt.runId, requestKey: null }, at)
    await markRead(tx, attempt, new Set([message.id]), at)
  }
}

async function setEvents(tx: Tx, id: CycleId, events: readonly WatchEvent[]): Promise<void> {
  await tx
    .updateTable('cycles')
    .set({ events: JSON.stringify(events) })
    .where('id', '=', id)
    .execute()
}

async function remove(
  tx: Tx,
  queued: CycleRecord,
  event: WatchEvent,
  { id, number }: CycleRecord,
  at: Date,
): Promise<void> {
  const left = queued.events.filter((one) => one !== event)
  if (left.length > 0) return setEvents(tx, queued.id, left)
  await tx
    .updateTable('cycles')
    .set({
      state: 'skipped',
      events: '[]',
      message: `the agent of cycle ${number} was told what this one was for`,
      taken_by: id,
      ended_at: at.getTime(),
    })
    .where('id', '=', queued.id)
    .execute()
}

/** The event is recognized as the same one while the cycle that has it is open. */
async function noteCycle(tx: Tx, watchId: WatchId, fingerprint: string, id: CycleId): Promise<void> {
  await tx
    .updateTable('watch_events')
    .set({ cycle_id: id })
    .where('watch_id', '=', watchId)
    .where('fingerprint', '=', fingerprint)
    .execute()
}
