/**
 * Attempts and the lease on their session. planned → running → ended; every step is guarded by state and fence, so a
 * daemon that lost an attempt to another one cannot touch it any more.
 */
import type { ExpressionBuilder, Kysely } from 'kysely'
import type { EventBody } from '../../contract/events.ts'
import type { AttemptId, RunId } from '../../contract/ids.ts'
import type { Place } from '../../core/resume/place.ts'
import { OwnershipLost, QuestionEdited } from '../base/errors.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/writer.ts'
import { endTurn } from '../conversations/end-turn.ts'
import { followRun } from '../jobs/job-state.ts'
import { enqueueNotifications } from '../notify/notifications.ts'
import { unlessClosed } from '../obstacles/obstacles.ts'
import { addEscalation } from '../tiers/escalations.ts'
import { extendDeadlineOf } from '../watches/cycle-deadlines.ts'
import type { AttemptEnding, AttemptRecord, NewAttempt } from './attempt-records.ts'
import { countCacheUse } from './cache-totals.ts'
import type { EventBatch } from './event-batch.ts'
import { appendBatch, appendEvents } from './events.ts'
import { closeQuestions, trackQuestions } from './questions.ts'
import type { Sent } from './records.ts'
import { PAUSED_MS, toAttempt } from './rows.ts'
import type { SessionRecord } from './session-records.ts'
import { acquitSession, updateSession } from './sessions.ts'
import { countSettled } from './totals.ts'

export interface StartInput {
  attempt: NewAttempt
  /** Where a resumed session goes on: its directory may have another name by now. */
  place?: Place
  /** Made with the attempt if it is a fresh one. */
  newSession: SessionRecord | null
  /** Of the conversation it was prepared for. */
  revision?: number | null
  /** How long the text is, and how long it would be with the whole history. */
  sent?: Sent
  events: (number: number) => readonly EventBody[]
}

/**
 * The planned attempt, or null if it must not start: the run is no longer queued, its session is leased, or the
 * conversation has changed since it was prepared.
 */
export async function startAttempt(
  tx: Tx,
  { attempt, newSession, place, revision, sent, events }: StartInput,
): Promise<AttemptRecord | null> {
  const at = attempt.startedAt.getTime()
  const held = await tx
    .selectFrom('leases')
    .select('run_id')
    .where('session_id', '=', attempt.sessionId)
    .where('attempt_id', 'is not', null)
    .executeTakeFirst()
  if (held) return null
  if (revision != null && (await hasMoved(tx, attempt.runId, revision))) return null
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
      carry: attempt.carry,
      attempt_count: eb('attempt_count', '+', 1),
      resume_count: eb('resume_count', '+', attempt.resumed ? 1 : 0),
      started_at: eb.fn.coalesce('started_at', eb.val(at)),
    }))
    .where('id', '=', attempt.runId)
    .where('state', '=', 'queued')
    .returning('attempt_count')
    .executeTakeFirst()
  if (!run) return null
  await followRun(tx, attempt.runId, attempt.startedAt)
  if (newSession) await insertSession(tx, newSession)
  else
    await tx
      .updateTable('sessions')
      .set((eb) => ({
        resumes: eb('resumes', '+', 1),
        last_used_at: at,
        ...(place ? { work_dir: place.workDir, work_dir_id: place.workDirId } : {}),
      }))
      .where('id', '=', attempt.sessionId)
      .execute()
  const { fence } = await tx
    .insertInto('leases')
    .values({
      session_id: attempt.sessionId,
      attempt_id: attempt.id,
      run_id: attempt.runId,
      fence: 1,
      acquired_at: at,
    })
    .onConflict((oc) =>
      oc.column('session_id').doUpdateSet((eb) => ({
        attempt_id: attempt.id,
        run_id: attempt.runId,
        fence: eb('leases.fence', '+', 1),
        acquired_at: at,
      })),
    )
    .returning('fence')
    .executeTakeFirstOrThrow()
  const row = await tx
    .insertInto('attempts')
    .values({
      id: attempt.id,
      run_id: attempt.runId,
      number: run.attempt_count,
      state: 'planned',
      session_id: attempt.sessionId,
      agent_session_id: attempt.agentSessionId,
      resumed: attempt.resumed ? 1 : 0,
      fresh_reason: attempt.freshReason,
      carry: attempt.carry,
      prompt_id: attempt.promptId,
      epoch: attempt.epoch ?? null,
      told: attempt.told ?? null,
      kind: attempt.kind ?? 'turn',
      runtime: attempt.runtime ? JSON.stringify(attempt.runtime) : null,
      fence,
      spool_offset: 0,
      started_at: at,
    } as Tables['attempts'])
    .returningAll()
    .executeTakeFirstOrThrow()
  await appendEvents(tx, attempt.runId, attempt.id, events(run.attempt_count), attempt.startedAt)
  return toAttempt(row)
}

async function hasMoved(tx: Tx, runId: RunId, revision: number): Promise<boolean> {
  const row = await tx
    .selectFrom('runs')
    .innerJoin('conversations', 'conversations.id', 'runs.conversation_id')
    .select('conversations.revision')
    .where('runs.id', '=', runId)
    .executeTakeFirst()
  return row !== undefined && row.revision !== revision
}

async function insertSession(tx: Tx, session: SessionRecord): Promise<void> {
  await tx
    .insertInto('sessions')
    .values({
      id: session.id,
      agent: session.agent,
      agent_session_id: session.agentSessionId,
      work_dir: session.workDir,
      work_dir_id: session.workDirId,
      runtime_id: session.runtimeId,
      runtime: session.runtime && JSON.stringify(session.runtime),
      epoch: session.epoch,
      continues: session.continues,
      compacted: 0,
      turns: 0,
      resumes: 0,
      cost_usd: 0,
      created_at: session.createdAt.getTime(),
      last_used_at: session.lastUsedAt.getTime(),
    } as Tables['sessions'])
    .execute()
}

/** The process exists. */
export async function markLaunched(
  tx: Tx,
  { id, fence }: Pick<AttemptRecord, 'id' | 'fence'>,
  process: { pid: number; startTicks: string; bootId: string },
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('attempts')
    .set({ state: 'running', pid: process.pid, start_ticks: process.startTicks, boot_id: process.bootId })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new OwnershipLost(`attempt ${id}`)
}

/** Events and how far the spool has been read belong together: either both are stored or neither. */
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
  const seq = await appendBatch(tx, runId, id, events, at)
  // In the same transaction: whatever becomes of the attempt, the next one says again what was said once.
  if (events.types.includes('compaction'))
    await tx.updateTable('sessions').set({ compacted: 1 }).where('id', '=', sessionId).execute()
  await trackQuestions(tx, id, runId, events.actedOn, at)
  return seq
}

/** How much time was counted for it; see core/watchdog.ts. */
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

/** Events that did not come from its output. */
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

/** The first cause of death wins: false if there is one already. */
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

export async function endAttempt(tx: Tx, ending: AttemptEnding): Promise<void> {
  const { attempt, at, spend } = ending
  const next = await unlessClosed(tx, ending.next, at)
  const { numUpdatedRows } = await tx
    .updateTable('attempts')
    .set({
      state: 'ended',
      exit_code: ending.exitCode,
      outcome: JSON.stringify(ending.outcome),
      cost_usd: ending.costUsd,
      cache_use: ending.cacheUse ? JSON.stringify(ending.cacheUse) : null,
      ended_at: at.getTime(),
    })
    .where('id', '=', attempt.id)
    .where('fence', '=', attempt.fence)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new OwnershipLost(`attempt ${attempt.id}`)
  if (ending.outdatedAttempts !== undefined) await refuseIfEdited(tx, attempt.runId, ending.outdatedAttempts)
  await tx
    .updateTable('leases')
    .set({ attempt_id: null, run_id: null })
    .where('session_id', '=', attempt.sessionId)
    .where('fence', '=', attempt.fence)
    .execute()
  await closeQuestions(tx, attempt.id, at)
  await updateSession(tx, attempt, ending.session, at)
  if (ending.cacheUse) await countCacheUse(tx, ending.cacheUse)
  if (ending.acquitted) await acquitSession(tx, ending.acquitted)
  const changed = await tx
    .updateTable('runs')
    .set((eb) => ({
      ...(next.kind === 'settle'
        ? {
            state: 'settled',
            outcome: JSON.stringify(next.outcome),
            outcome_name: next.outcome.name,
            message: next.outcome.message,
            ended_at: at.getTime(),
          }
        : {
            state: 'queued',
            not_before: next.kind === 'pause' ? PAUSED_MS : next.notBefore.getTime(),
            wait_ms: next.kind === 'pause' ? null : next.notBefore.getTime() - at.getTime(),
            message: next.why,
            held_by: next.heldBy ?? null,
            // Its conversation may have been moved while it ran.
            work_dir: eb.fn.coalesce(workDirOfConversation(eb), 'work_dir'),
          }),
      ...(ending.acquitted ? { session_id: ending.acquitted } : {}),
      crash_count: eb('crash_count', '+', ending.strikes),
      model_calls: ending.done.modelCalls,
      tool_calls: ending.done.toolCalls,
      refusals: ending.done.refusals,
      result_text: ending.resultText,
      input_tokens: spend.usage.inputTokens,
      output_tokens: spend.usage.outputTokens,
      cache_read_tokens: spend.usage.cacheReadTokens,
      cache_write_tokens: spend.usage.cacheWriteTokens,
      cost_usd: spend.costUsd,
      cost_estimated: spend.estimated ? 1 : 0,
      context_tokens: spend.contextTokens,
      context_window: spend.contextWindow,
    }))
    .where('id', '=', attempt.runId)
    .where('state', '=', 'running')
    .executeTakeFirst()
  if (next.kind === 'settle' && changed.numUpdatedRows > 0n) await countSettled(tx, attempt.runId)
  await followRun(tx, attempt.runId, at)
  if (next.kind === 'pause') await extendDeadlineOf(tx, attempt.runId, PAUSED_MS - at.getTime())
  if (next.kind === 'retry' && next.heldBy) {
    await extendDeadlineOf(tx, attempt.runId, next.notBefore.getTime() - at.getTime())
  }
  if (ending.turn) await endTurn(tx, ending.turn, at)
  if (ending.tier) await addEscalation(tx, ending.tier)
  // Nobody is told of a pause that has become needless.
  const needless = ending.next.kind === 'pause' && next.kind !== 'pause'
  await enqueueNotifications(tx, needless ? [] : (ending.notices ?? []), at)
  await appendEvents(tx, attempt.runId, attempt.id, ending.events, at)
}

const workDirOfConversation = (eb: ExpressionBuilder<Tables, 'runs'>) =>
  eb.selectFrom('conversations').select('work_dir').whereRef('conversations.id', '=', 'runs.conversation_id')

async function refuseIfEdited(tx: Tx, id: RunId, outdatedAttempts: number): Promise<void> {
  const run = await tx.selectFrom('runs').select('outdated_attempts').where('id', '=', id).executeTakeFirst()
  if (run?.outdated_attempts !== outdatedAttempts) throw new QuestionEdited(`the question of run ${id}`)
}

export async function listAttempts(db: Kysely<Tables>, runId: RunId): Promise<AttemptRecord[]> {
  const rows = await db
    .selectFrom('attempts')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('number')
    .execute()
  return rows.map(toAttempt)
}

export async function listOpenAttempts(db: Kysely<Tables>): Promise<AttemptRecord[]> {
  const rows = await db
    .selectFrom('attempts')
    .selectAll()
    .where('state', '<>', 'ended')
    .orderBy('id')
    .execute()
  return rows.map(toAttempt)
}

export async function findAttemptEnd(db: Kysely<Tables>, id: AttemptId): Promise<Date | null> {
  const row = await db.selectFrom('attempts').select('ended_at').where('id', '=', id).executeTakeFirst()
  return row?.ended_at == null ? null : new Date(Number(row.ended_at))
}

/** Makes the caller the owner: a new fence, which shuts out whoever held the old one. */
export async function takeOver(tx: Tx, attempt: AttemptRecord, at: Date): Promise<AttemptRecord> {
  const lease = await tx
    .updateTable('leases')
    .set((eb) => ({ fence: eb('fence', '+', 1), acquired_at: at.getTime() }))
    .where('session_id', '=', attempt.sessionId)
    .where('attempt_id', '=', attempt.id)
    .returning('fence')
    .executeTakeFirst()
  if (!lease) throw new OwnershipLost(`attempt ${attempt.id}`)
  const row = await tx
    .updateTable('attempts')
    .set({ fence: lease.fence })
    .where('id', '=', attempt.id)
    .where('state', '<>', 'ended')
    .returningAll()
    .executeTakeFirst()
  if (!row) throw new OwnershipLost(`attempt ${attempt.id}`)
  return toAttempt(row)
}
