/** What people are told of a chain: planned here, stored with what was decided. */
import type { CycleId } from '../../contract/ids.ts'
import { noticeOfChain } from '../../core/notify/chain.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { EscalationRecord, RunRecord } from '../../store/base/records.ts'
import type { EngineParts } from '../parts.ts'
import { noticesOf, readProgress } from '../watches/end.ts'

export async function noticesOfTier(
  parts: Pick<EngineParts, 'store' | 'notifications'>,
  run: RunRecord,
  escalation: EscalationRecord,
): Promise<PlannedNotification[]> {
  if (run.links.cycleId) return noticesOfItsCycle(parts, run.links.cycleId, escalation)
  const { store, notifications } = parts
  const { tier, decision, reason, message, toTier, expiresAt, recommendation } = escalation
  const root = (await store.listChain(run.id))[0] ?? run
  // It is not over while something is planned.
  if (
    decision === 'stop' &&
    (await store.listPlannedFollowUps({ rootRunId: root.id, sessionId: null })).length > 0
  )
    return []
  const notice = noticeOfChain({
    id: root.id,
    runId: run.id,
    state: reason,
    message,
    tier,
    toTier,
    expiresAt: expiresAt?.toISOString() ?? null,
    status: recommendation.signal?.status ?? null,
    summary: recommendation.signal?.summary ?? '',
    services: recommendation.signal?.services ?? [],
    prompt: root.prompt,
    workDir: run.workDir,
  })
  return notice ? notifications.plan(notice, null) : []
}

/** Of a cycle people are told when it ends; or, before that, when it needs one of them. */
async function noticesOfItsCycle(
  parts: Pick<EngineParts, 'store' | 'notifications'>,
  cycleId: CycleId,
  escalation: EscalationRecord,
): Promise<PlannedNotification[]> {
  const cycle = escalation.decision === 'ask' ? await parts.store.getCycle(cycleId) : null
  const watch = cycle && (await parts.store.getWatch(cycle.watchId))
  if (!watch) return []
  const progress = await readProgress(parts, cycle)
  return noticesOf(parts, watch, cycle, { ...progress, asks: escalation })
}
