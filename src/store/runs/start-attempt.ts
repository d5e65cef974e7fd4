import type { EventBody } from '../../contract/events.ts'
import { type MachineId, ProcessId } from '../../contract/ids.ts'
import type { Place } from '../../core/resume/place.ts'
import { NotNow } from '../base/errors.ts'
import type { Tables } from '../base/schema.ts'
import type { RunEffect, Tx } from '../base/transaction.ts'
import type { AttemptRecord, NewAttempt } from './attempt-records.ts'
import { readAttempt } from './attempts.ts'
import { appendEvents } from './events.ts'
import { takeKept } from './kept-processes.ts'
import type { KeptProcess } from './process-records.ts'
import { insertProcess, takeLease } from './processes.ts'
import type { Sent } from './records.ts'
import { announceChange, CHANGE_COLUMNS } from './run-changes.ts'
import type { NewSession } from './session-records.ts'
import { moveSession } from './session-state.ts'
import { insertSession } from './sessions.ts'

export interface StartInput {
  attempt: NewAttempt
  /** The directory of a resumed session, which may have been renamed. */
  place?: Place
  /** The kept process that the attempt is given to. Otherwise it starts a process. */
  reuse?: KeptProcess | null
  /** Inserted with the attempt if it starts a new session. */
  newSession: NewSession | null
  /** The length of the text, and its length with the whole history. */
  sent?: Sent
  events: (number: number) => readonly EventBody[]
  /** An effect that throws `NotNow` keeps the attempt from starting. */
  effects?: readonly RunEffect[]
}

/**
 * Returns the planned attempt. Throws `NotNow` if it must not start: the run is no longer queued, or its session is
 * leased or has been deleted.
 */
export async function startAttempt(
  tx: Tx,
  { attempt, newSession, place, reuse = null, sent, events, effects = [] }: StartInput,
  machineId: MachineId | null,
): Promise<AttemptRecord> {
  const at = attempt.startedAt.getTime()
  const run = await tx
    .updateTable('runs')
    .set((eb) => ({
      state: 'running',
      not_before: null,
      wait_ms: null,
      held_by: null,
      continued: 0,
      message: null,
      lane: eb.fn.coalesce('conversation_id', eb.val(attempt.sessionId)),
      prompt_chars: sent?.promptChars ?? null,
      transcript_chars: sent?.transcriptChars ?? null,
      left_out: sent?.leftOut ? JSON.stringify(sent.leftOut) : null,
      session_id: attempt.sessionId,
      resumed: attempt.resumed ? 1 : 0,
      fresh_reason: attempt.freshReason,
      sandbox: attempt.sandbox ?? null,
      directory_settings: attempt.directorySettings ?? null,
      carry: attempt.carry,
      attempt_count: eb('attempt_count', '+', 1),
      resume_count: eb('resume_count', '+', attempt.resumed ? 1 : 0),
      started_at: eb.fn.coalesce('started_at', eb.val(at)),
    }))
    .where('id', '=', attempt.runId)
    .where('state', '=', 'queued')
    .returning(['attempt_count', 'agent', ...CHANGE_COLUMNS])
    .executeTakeFirst()
  if (!run) throw new NotNow(`run ${attempt.runId} is not queued any more`)
  await announceChange(tx, run, attempt.startedAt, effects)
  if (newSession) await insertSession(tx, newSession)
  else {
    await moveSession(tx, attempt.sessionId, { kind: 'resume' }, attempt.startedAt)
    const { numUpdatedRows } = await tx
      .updateTable('sessions')
      .set((eb) => ({
        resumes: eb('resumes', '+', 1),
        last_used_at: at,
        ...(place ? { work_dir: place.workDir, work_dir_id: place.workDirId } : {}),
      }))
      .where('id', '=', attempt.sessionId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw new NotNow(`session ${attempt.sessionId} has been deleted`)
  }
  const held = reuse
    ? await takeKept(tx, reuse, attempt.runId, attempt.startedAt)
    : await startProcess(tx, attempt, run.agent, machineId)
  await tx
    .insertInto('attempts')
    .values({
      id: attempt.id,
      run_id: attempt.runId,
      number: run.attempt_count,
      state: reuse ? 'running' : 'planned',
      session_id: attempt.sessionId,
      agent_session_id: attempt.agentSessionId,
      resumed: attempt.resumed ? 1 : 0,
      fresh_reason: attempt.freshReason,
      carry: attempt.carry,
      prompt_id: attempt.promptId,
      epoch: attempt.epoch ?? null,
      told: attempt.told ?? null,
      kind: attempt.kind ?? 'turn',
      process_id: held.processId,
      fence: held.fence,
      spool_from: held.spoolFrom,
      spool_offset: held.spoolFrom,
      cost_from_usd: 0,
      started_at: at,
    } as Tables['attempts'])
    .execute()
  await appendEvents(tx, attempt.runId, attempt.id, events(run.attempt_count), attempt.startedAt)
  return readAttempt(tx, attempt.id)
}

interface HeldSession {
  processId: ProcessId
  fence: number
  spoolFrom: number
}

/** Leases the session to a new process. */
async function startProcess(
  tx: Tx,
  { id: attemptId, runId, sessionId, startedAt, runtime, binding }: NewAttempt,
  agent: string,
  machineId: MachineId | null,
): Promise<HeldSession> {
  const processId = ProcessId.create(startedAt)
  const fence = await takeLease(tx, { sessionId, processId, runId, at: startedAt })
  await insertProcess(tx, {
    id: processId,
    machineId,
    sessionId,
    agent,
    runtime: runtime ?? null,
    attemptId,
    fence,
    binding: binding ?? null,
    startedAt,
  })
  return { processId, fence, spoolFrom: 0 }
}
