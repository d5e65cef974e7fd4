/** What people are told of a chain: planned here, stored with what was decided. */
import { noticeOfChain } from '../../core/notify/chain.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { EscalationRecord, RunRecord } from '../../store/records.ts'
import type { EngineParts } from '../parts.ts'

export async function noticesOfTier(
  { store, notifications }: Pick<EngineParts, 'store' | 'notifications'>,
  run: RunRecord,
  { tier, reason, message, toTier, expiresAt, recommendation }: EscalationRecord,
): Promise<PlannedNotification[]> {
  const root = (await store.listChain(run.id))[0] ?? run
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
