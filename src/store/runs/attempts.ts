/**
 * Attempts: planned → running → ended. Every transition is guarded by the state and by the fence of the process
 * (processes.ts), so a daemon that lost an attempt to another one cannot change it any more.
 */
import type { Kysely } from 'kysely'
import type { EventBody } from '../../contract/events.ts'
import type { AttemptId, ProcessId, RunId } from '../../contract/ids.ts'
import { OwnershipLost } from '../base/errors.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { AttemptRecord } from './attempt-records.ts'
import type { EventBatch } from './event-batch.ts'
import { appendBatch, appendEvents } from './events.ts'
import { takeMessages } from './messages.ts'
import { trackQuestions } from './questions.ts'
import { toAttempt } from './rows.ts'
import { moveSession } from './session-state.ts'

/** Stores events and the spool position together: either both are stored or neither. */
export async function advanceAttempt(
  tx: Tx,
  { id, runId, sessionId, fence }: Pick<AttemptRecord, 'id' | 'runId' | 'sessionId' | 'fence'>,
  events: EventBatch,
  spoolOffset: number,
  heldFrom: number | null,
  at: Date,
): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('attempts')
    .set({ spool_offset: spoolOffset, held_from: heldFrom })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new OwnershipLost(`attempt ${id}`)
  const seq = await appendBatch(
    tx,
    runId,
    id,
    await takeMessages(tx, { id, runId, sessionId }, events, at),
    at,
  )
  // In the same transaction: whatever becomes of the attempt, the next one sends the one-time texts again.
  if (events.types.includes('compaction'))
    await tx.updateTable('sessions').set({ compacted: 1 }).where('id', '=', sessionId).execute()
  if (events.types.some((type) => type === 'prompt-accept' || type === 'model-call'))
    await moveSession(tx, sessionId, { kind: 'message' }, at)
  await trackQuestions(tx, id, runId, events.actedOn, at)
  return seq
}

/** Stores how much time was counted for the attempt; see core/watchdog.ts. */
export async function noteWatched(
  tx: Tx,
  { id, fence }: Pick<AttemptRecord, 'id' | 'fence'>,
  { workedMs, waitingMs }: AttemptRecord['watched'],
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('attempts')
    .set({ worked_ms: Math.round(workedMs), waiting_ms: Math.round(waitingMs) })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new OwnershipLost(`attempt ${id}`)
}

/** Adds events that did not come from the agent's output. */
export async function addEvents(
  tx: Tx,
  { id, runId, fence }: Pick<AttemptRecord, 'id' | 'runId' | 'fence'>,
  events: readonly EventBody[],
  at: Date,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('attempts')
    .set((eb) => ({ fence: eb.ref('fence') }))
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new OwnershipLost(`attempt ${id}`)
  await appendEvents(tx, runId, id, events, at)
}

/** The first cause wins: returns false if there is one already. */
export async function setStopCause(
  tx: Tx,
  attempt: AttemptRecord,
  cause: string,
  message: string,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('attempts')
    .set({ stop_cause: cause })
    .where('id', '=', attempt.id)
    .where('fence', '=', attempt.fence)
    .where('stop_cause', 'is', null)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await appendEvents(tx, attempt.runId, attempt.id, [{ type: 'stop-request', cause, message }], at)
  return true
}

/** Attempts joined with their processes. */
export const selectAttempts = (db: Kysely<Tables>) =>
  db
    .selectFrom('attempts')
    .innerJoin('processes', 'processes.id', 'attempts.process_id')
    .selectAll('attempts')
    .select([
      'processes.pid',
      'processes.start_ticks',
      'processes.boot_id',
      'processes.runtime',
      'processes.spool',
      'processes.binding',
    ])

export async function readAttempt(db: Kysely<Tables>, id: AttemptId): Promise<AttemptRecord> {
  return toAttempt(await selectAttempts(db).where('attempts.id', '=', id).executeTakeFirstOrThrow())
}

export async function listAttempts(db: Kysely<Tables>, runId: RunId): Promise<AttemptRecord[]> {
  const rows = await selectAttempts(db).where('run_id', '=', runId).orderBy('number').execute()
  return rows.map(toAttempt)
}

/** The attempts of these processes. */
export async function listAttemptsOf(
  db: Kysely<Tables>,
  processIds: readonly ProcessId[],
): Promise<AttemptRecord[]> {
  if (processIds.length === 0) return []
  const rows = await selectAttempts(db).where('process_id', 'in', processIds).orderBy('attempts.id').execute()
  return rows.map(toAttempt)
}
