/**
 * Notifications about a chain that belongs to a cycle: only requests for approval. The cycle itself reports the end.
 */
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { EscalationRecord } from '../../store/tiers/records.ts'
import { type NoticeDeps, type ProgressDeps, readCycleNotices, readProgress } from './end.ts'

export type OwnersNoticesDeps = ProgressDeps & NoticeDeps & { store: Pick<Store, 'getCycle' | 'getWatch'> }

/** Returns null if the run belongs to no cycle. */
export async function readOwnersNotices(
  deps: OwnersNoticesDeps,
  { links }: RunRecord,
  escalation: EscalationRecord,
): Promise<PlannedNotification[] | null> {
  if (!links.cycleId) return null
  const cycle = escalation.decision === 'ask' ? await deps.store.getCycle(links.cycleId) : null
  const watch = cycle && (await deps.store.getWatch(cycle.watchId))
  if (!watch) return []
  const progress = await readProgress(deps, cycle)
  return readCycleNotices(deps, watch, cycle, { ...progress, asks: escalation })
}
