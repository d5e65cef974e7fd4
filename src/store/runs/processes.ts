/**
 * Processes: starting → running (an attempt) ⇄ kept (kept-processes.ts) → gone. A process holds the lease on its session
 * from its start to its end, and the lease's fence guards every write about the process and its attempts: a daemon that
 * lost a process to another one cannot change it any more. An attempt is one try at a run and owns a range of its
 * process's spool.
 */
import type { Kysely } from 'kysely'
import type { AttemptId, MachineId, ProcessId, RunId, SessionId } from '../../contract/ids.ts'
import type { Binding } from '../../core/kept/binding.ts'
import { date, json } from '../base/columns.ts'
import { NotNow, OwnershipLost } from '../base/errors.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { AttemptRecord } from './attempt-records.ts'
import { listAttemptsOf, readAttempt } from './attempts.ts'
import type { Keeper, ProcessRecord } from './process-records.ts'
import { toKeeper } from './rows.ts'
import type { ProcessesTable } from './schema.ts'

/** A process that has not been recorded as gone, and the attempt that it serves. */
export interface OpenProcess {
  process: ProcessRecord
  attempt: AttemptRecord | null
}

/** Processes that this machine holds, and those without a recorded machine. */
export async function listOpenProcesses(
  db: Kysely<Tables>,
  machineId: MachineId | null,
): Promise<OpenProcess[]> {
  const rows = await db
    .selectFrom('processes')
    .selectAll()
    .where('state', '<>', 'gone')
    .where((eb) => eb.or([eb('machine_id', 'is', null), eb('machine_id', '=', machineId)]))
    .orderBy('id')
    .execute()
  const attempts = await listAttemptsOf(
    db,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({
    process: toProcess(row),
    attempt: attempts.find(({ processId, state }) => processId === row.id && state !== 'ended') ?? null,
  }))
}

/** The process with this folder. */
export async function findSpool(db: Kysely<Tables>, spool: string): Promise<ProcessRecord | null> {
  const row = await db.selectFrom('processes').selectAll().where('spool', '=', spool).executeTakeFirst()
  return row ? toProcess(row) : null
}

/** Records that the keeper exists. */
export async function markLaunched(
  tx: Tx,
  { id, processId, fence }: Pick<AttemptRecord, 'id' | 'processId' | 'fence'>,
  keeper: Keeper,
): Promise<void> {
  const attempt = await tx
    .updateTable('attempts')
    .set({ state: 'running' })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
  const process = await tx
    .updateTable('processes')
    .set({ state: 'running', pid: keeper.pid, start_ticks: keeper.startTicks, boot_id: keeper.bootId })
    .where('id', '=', processId)
    .where('fence', '=', fence)
    .where('state', '<>', 'gone')
    .executeTakeFirst()
  if (attempt.numUpdatedRows === 0n || process.numUpdatedRows === 0n) throw new OwnershipLost(`attempt ${id}`)
}

/** Makes the caller the owner by a new fence, which excludes the owner of the old one. */
export async function takeOver(
  tx: Tx,
  { id, processId, sessionId }: Pick<AttemptRecord, 'id' | 'processId' | 'sessionId'>,
  machineId: MachineId | null,
  at: Date,
): Promise<AttemptRecord> {
  const lease = await tx
    .updateTable('leases')
    .set((eb) => ({ fence: eb('fence', '+', 1), acquired_at: at.getTime() }))
    .where('session_id', '=', sessionId)
    .where('process_id', '=', processId)
    .returning('fence')
    .executeTakeFirst()
  if (!lease) throw new OwnershipLost(`attempt ${id}`)
  const process = await tx
    .updateTable('processes')
    .set({ fence: lease.fence, machine_id: machineId })
    .where('id', '=', processId)
    .where('state', '<>', 'gone')
    .executeTakeFirst()
  const attempt = await tx
    .updateTable('attempts')
    .set({ fence: lease.fence })
    .where('id', '=', id)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
  if (process.numUpdatedRows === 0n || attempt.numUpdatedRows === 0n) throw new OwnershipLost(`attempt ${id}`)
  return readAttempt(tx, id)
}

/** Records that the process has ended, and releases its session. */
export async function endProcess(
  tx: Tx,
  { processId, sessionId, fence }: Pick<AttemptRecord, 'processId' | 'sessionId' | 'fence'>,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('processes')
    .set({ state: 'gone', ended_at: at.getTime() })
    .where('id', '=', processId)
    .where('fence', '=', fence)
    .execute()
  await tx
    .updateTable('leases')
    .set({ process_id: null, run_id: null })
    .where('session_id', '=', sessionId)
    .where('process_id', '=', processId)
    .where('fence', '=', fence)
    .execute()
}

/** Takes the lease only while the session is free; otherwise throws `NotNow`. Returns the fence. */
export async function takeLease(tx: Tx, { sessionId, processId, runId, at }: Leasing): Promise<number> {
  const acquired = { process_id: processId, run_id: runId, acquired_at: at.getTime() }
  const lease = await tx
    .insertInto('leases')
    .values({ session_id: sessionId, fence: 1, ...acquired })
    .onConflict((oc) =>
      oc
        .column('session_id')
        .doUpdateSet((eb) => ({ ...acquired, fence: eb('leases.fence', '+', 1) }))
        .where('leases.process_id', 'is', null),
    )
    .returning('fence')
    .executeTakeFirst()
  if (!lease) throw new NotNow(`session ${sessionId} is leased`)
  return Number(lease.fence)
}

interface Leasing {
  sessionId: SessionId
  processId: ProcessId
  /** null: the process waits for its first turn. */
  runId: RunId | null
  at: Date
}

export interface NewProcess
  extends Pick<ProcessRecord, 'id' | 'machineId' | 'sessionId' | 'agent' | 'runtime'> {
  /** The first attempt that it serves. */
  attemptId: AttemptId
  fence: number
  binding: Binding | null
  startedAt: Date
}

export async function insertProcess(tx: Tx, process: NewProcess): Promise<void> {
  await tx
    .insertInto('processes')
    .values({
      id: process.id,
      machine_id: process.machineId,
      session_id: process.sessionId,
      agent: process.agent,
      runtime: process.runtime && JSON.stringify(process.runtime),
      spool: process.attemptId,
      fence: process.fence,
      pid: null,
      start_ticks: null,
      boot_id: null,
      state: 'starting',
      binding: process.binding && JSON.stringify(process.binding),
      kept: null,
      conversation_id: null,
      started_at: process.startedAt.getTime(),
      ended_at: null,
    })
    .execute()
}

export function toProcess(row: ProcessesTable): ProcessRecord {
  return {
    id: row.id,
    machineId: row.machine_id,
    sessionId: row.session_id,
    agent: row.agent,
    runtime: json(row.runtime),
    spool: row.spool,
    fence: Number(row.fence),
    keeper: toKeeper(row),
    state: row.state,
    binding: json(row.binding),
    startedAt: new Date(Number(row.started_at)),
    endedAt: date(row.ended_at),
  }
}
