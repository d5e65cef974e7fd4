/** The public description of a follow-up. */
import type { FollowUp } from '../../contract/follow-up.ts'
import type { FollowUpRecord } from '../../store/follow-ups/records.ts'

export function describeFollowUp(followUp: FollowUpRecord): FollowUp {
  return {
    id: followUp.id,
    state: followUp.state,
    prompt: followUp.prompt,
    reason: followUp.reason,
    createdBy: followUp.createdBy,
    runId: followUp.runId,
    session: followUp.sessionId,
    cycleId: followUp.cycleId,
    tier: followUp.tier,
    cron: followUp.cron,
    recurring: followUp.recurring,
    dueAt: followUp.dueAt.toISOString(),
    expiresAt: followUp.expiresAt?.toISOString() ?? null,
    firedCount: followUp.firedCount,
    firedAt: followUp.firedAt?.toISOString() ?? null,
    firedRunId: followUp.firedRunId,
    cancelledBy: followUp.cancelledBy,
    message: followUp.message,
    createdAt: followUp.createdAt.toISOString(),
    endedAt: followUp.endedAt?.toISOString() ?? null,
  }
}
