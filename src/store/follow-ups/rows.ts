/** Converts follow-ups between rows and records. */
import type { Selectable } from 'kysely'
import { date } from '../base/columns.ts'
import type { FollowUpRecord } from './records.ts'
import type { FollowUpsTable } from './schema.ts'

export function toRow(record: FollowUpRecord): FollowUpsTable {
  return {
    id: record.id,
    state: record.state,
    prompt: record.prompt,
    message_id: record.messageId,
    reason: record.reason,
    created_by: record.createdBy,
    run_id: record.runId,
    root_run_id: record.rootRunId,
    session_id: record.sessionId,
    cycle_id: record.cycleId,
    tier: record.tier,
    attempt_id: record.call?.attemptId ?? null,
    tool_use_id: record.call?.toolUseId ?? null,
    cron: record.cron,
    time_zone: record.timeZone,
    recurring: record.recurring ? 1 : 0,
    relative: record.relative ? 1 : 0,
    due_at: record.dueAt.getTime(),
    expires_at: record.expiresAt?.getTime() ?? null,
    fired_count: record.firedCount,
    fired_at: record.firedAt?.getTime() ?? null,
    fired_run_id: record.firedRunId,
    fired_attempt_id: record.firedAttemptId,
    fired_message_id: record.firedMessageId,
    cancelled_by: record.cancelledBy,
    message: record.message,
    created_at: record.createdAt.getTime(),
    ended_at: record.endedAt?.getTime() ?? null,
  }
}

export function toFollowUp(row: Selectable<FollowUpsTable>): FollowUpRecord {
  return {
    id: row.id,
    state: row.state,
    prompt: row.prompt,
    messageId: row.message_id,
    reason: row.reason,
    createdBy: row.created_by,
    runId: row.run_id,
    rootRunId: row.root_run_id,
    sessionId: row.session_id,
    cycleId: row.cycle_id,
    tier: row.tier,
    call:
      row.attempt_id !== null && row.tool_use_id !== null
        ? { attemptId: row.attempt_id, toolUseId: row.tool_use_id }
        : null,
    cron: row.cron,
    timeZone: row.time_zone,
    recurring: row.recurring === 1,
    relative: row.relative === 1,
    dueAt: new Date(Number(row.due_at)),
    expiresAt: date(row.expires_at),
    firedCount: row.fired_count,
    firedAt: date(row.fired_at),
    firedRunId: row.fired_run_id,
    firedAttemptId: row.fired_attempt_id,
    firedMessageId: row.fired_message_id,
    cancelledBy: row.cancelled_by,
    message: row.message,
    createdAt: new Date(Number(row.created_at)),
    endedAt: date(row.ended_at),
  }
}
