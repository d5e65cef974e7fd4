/**
 * Kept processes: an attempt that ends leaves its process to wait for the next turn (`keepProcess`), or a process is
 * started ahead of a turn (`startKept`, `markKept`). From there it is taken by an attempt (`takeKept`), or is told to
 * leave (`leaveKept`) and ends (`endKept`). It holds the lease of its session all the time, without a run, so that
 * nothing else can use the session.
 *
 * Every transition is guarded by the state and by the fence, which `takeKept` and `takeOverKept` raise, and a process that
 * leaves cannot be taken: a turn and an end that happen at the same time cannot both succeed, and a daemon that lost the
 * process cannot change it any more.
 */
import { type Kysely, sql } from 'kysely'
import type { AttemptId, ConversationId, MachineId, RunId, SessionId } from '../../contract/ids.ts'
import { ProcessId } from '../../contract/ids.ts'
import type { Binding } from '../../core/kept/binding.ts'
import type { RuntimeFacts } from '../../core/resume/runtime.ts'
import { NotNow, OwnershipLost } from '../base/errors.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { AttemptRecord } from './attempt-records.ts'
import type { Keeper, Kept, KeptProcess } from './process-records.ts'
import { endProcess, insertProcess, takeLease, toProcess } from './processes.ts'
import type { ProcessesTable } from './schema.ts'

/** The process of an attempt that ends waits for the next turn. The caller has ended the attempt, guarded by its fence. */
export async function keepProcess(
  tx: Tx,
  { processId, sessionId, runId, fence }: AttemptRecord,
  kept: Kept,
): Promise<KeptProcess> {
  const row = await tx
    .updateTable('processes')
    .set((eb) => ({
      state: 'kept' as const,
      kept: JSON.stringify(kept),
      conversation_id: eb.selectFrom('runs').select('runs.conversation_id').where('runs.id', '=', runId),
    }))
    .where('id', '=', processId)
    .where('fence', '=', fence)
    .where('state', '=', 'running')
    .returningAll()
    .executeTakeFirst()
  if (!row) throw new OwnershipLost(`process ${processId}`)
  await tx
    .updateTable('leases')
    .set({ run_id: null })
    .where('session_id', '=', sessionId)
    .where('process_id', '=', processId)
    .execute()
  return toKept(row)
}

/** Gives the process to a run. Throws `NotNow` if it is not kept any more. */
export async function takeKept(
  tx: Tx,
  { id, sessionId, fence, kept }: KeptProcess,
  runId: RunId,
  at: Date,
): Promise<{ processId: ProcessId; fence: number; spoolFrom: number }> {
  const next = await raiseFence(tx, { id, sessionId, fence }, { run_id: runId, acquired_at: at.getTime() })
  const { numUpdatedRows } = await tx
    .updateTable('processes')
    .set({ state: 'running', kept: null, fence: next ?? fence })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('state', '=', 'kept')
    .where(sql`json_extract(kept, '$.leaving')`, 'is', null)
    .executeTakeFirst()
  if (next === null || numUpdatedRows === 0n) throw new NotNow(`process ${id} is not kept any more`)
  return { processId: id, fence: next, spoolFrom: kept.spoolOffset }
}

export interface NewKept {
  /** The name of its folder: an attempt of this id never exists. */
  spool: AttemptId
  sessionId: SessionId
  conversationId: ConversationId
  agent: string
  runtime: RuntimeFacts
  binding: Binding
  kept: Kept
  startedAt: Date
}

/** A process that is about to be started ahead of its first turn. Throws `NotNow` if its session is in use. */
export async function startKept(tx: Tx, process: NewKept, machineId: MachineId | null): Promise<KeptProcess> {
  const { sessionId, startedAt: at } = process
  const id = ProcessId.create(at)
  const fence = await takeLease(tx, { sessionId, processId: id, runId: null, at })
  const { spool: attemptId, agent, runtime, binding, startedAt } = process
  await insertProcess(tx, { id, machineId, sessionId, agent, runtime, attemptId, fence, binding, startedAt })
  await tx
    .updateTable('processes')
    .set({ kept: JSON.stringify(process.kept), conversation_id: process.conversationId })
    .where('id', '=', id)
    .execute()
  return toKept(await tx.selectFrom('processes').selectAll().where('id', '=', id).executeTakeFirstOrThrow())
}

/** Records that the process that was started ahead exists, and waits. */
export async function markKept(tx: Tx, { id, fence }: KeptProcess, keeper: Keeper): Promise<KeptProcess> {
  const row = await tx
    .updateTable('processes')
    .set({ state: 'kept', pid: keeper.pid, start_ticks: keeper.startTicks, boot_id: keeper.bootId })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('state', '=', 'starting')
    .returningAll()
    .executeTakeFirst()
  if (!row) throw new OwnershipLost(`process ${id}`)
  return toKept(row)
}

/** Makes the caller the owner of a process that another daemon kept. */
export async function takeOverKept(
  tx: Tx,
  { id, sessionId, fence }: Pick<KeptProcess, 'id' | 'sessionId' | 'fence'>,
  machineId: MachineId | null,
  at: Date,
): Promise<KeptProcess> {
  const next = await raiseFence(tx, { id, sessionId, fence }, { acquired_at: at.getTime() })
  const row = await tx
    .updateTable('processes')
    .set({ fence: next ?? fence, machine_id: machineId })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('state', 'in', ['starting', 'kept'])
    .returningAll()
    .executeTakeFirst()
  if (next === null || !row) throw new OwnershipLost(`process ${id}`)
  return toKept(row)
}

/**
 * Records that a kept process is about to be ended, so that no turn takes it any more. A process that was to be killed is
 * not ended politely later: it must not write to its session. May be repeated.
 */
export async function leaveKept(
  tx: Tx,
  { id, fence, kept }: KeptProcess,
  how: NonNullable<Kept['leaving']>,
): Promise<KeptProcess> {
  const leaving = kept.leaving === 'abruptly' ? kept.leaving : how
  const row = await tx
    .updateTable('processes')
    .set({ kept: JSON.stringify({ ...kept, leaving } satisfies Kept) })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('state', 'in', ['starting', 'kept'])
    .returningAll()
    .executeTakeFirst()
  if (!row) throw new OwnershipLost(`process ${id}`)
  return toKept(row)
}

/** Records that a kept process has ended, and releases its session. Nothing refers to one that never had a turn. */
export async function endKept(tx: Tx, { id, sessionId, fence }: KeptProcess, at: Date): Promise<void> {
  await endProcess(tx, { processId: id, sessionId, fence }, at)
  await tx
    .deleteFrom('processes')
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('attempts').select('attempts.id').where('attempts.process_id', '=', id))),
    )
    .execute()
}

/** The process that is kept for the session, or is about to be started for it. */
export async function findKept(db: Kysely<Tables>, sessionId: SessionId): Promise<KeptProcess | null> {
  const row = await db
    .selectFrom('leases')
    .innerJoin('processes', 'processes.id', 'leases.process_id')
    .selectAll('processes')
    .where('leases.session_id', '=', sessionId)
    .where('processes.state', 'in', ['starting', 'kept'])
    .where('processes.kept', 'is not', null)
    .executeTakeFirst()
  return row ? toKept(row) : null
}

interface Guarded {
  id: ProcessId
  sessionId: SessionId
  fence: number
}

/** null: the process does not hold the lease with this fence. */
async function raiseFence(
  tx: Tx,
  { id, sessionId, fence }: Guarded,
  change: { run_id?: RunId; acquired_at: number },
): Promise<number | null> {
  const lease = await tx
    .updateTable('leases')
    .set((eb) => ({ ...change, fence: eb('fence', '+', 1) }))
    .where('session_id', '=', sessionId)
    .where('process_id', '=', id)
    .where('fence', '=', fence)
    .returning('fence')
    .executeTakeFirst()
  return lease ? Number(lease.fence) : null
}

function toKept(row: ProcessesTable): KeptProcess {
  const process = toProcess(row)
  const { binding } = process
  if (binding === null || row.kept === null) throw new Error(`process ${row.id} is not kept`)
  return { ...process, binding, kept: JSON.parse(row.kept) as Kept, conversationId: row.conversation_id }
}
