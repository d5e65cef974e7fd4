/** Notifications about chains. They are planned here and stored with the decision that they report. */
import { noticeOfChain } from '../../core/notify/chain.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { EscalationRecord } from '../../store/tiers/records.ts'
import type { Notifications } from '../base/notifications.ts'

export interface TellDeps {
  store: Pick<Store, 'listChain' | 'listPlannedFollowUps'>
  notifications: Pick<Notifications, 'plan'>
  /**
   * The notifications of the owner of a chain, such as a cycle, which replace those of the chain; null if it has no
   * owner.
   */
  readOwnersNotices: (run: RunRecord, escalation: EscalationRecord) => Promise<PlannedNotification[] | null>
}

export async function readTierNotices(
  { store, notifications, readOwnersNotices }: TellDeps,
  run: RunRecord,
  escalation: EscalationRecord,
): Promise<PlannedNotification[]> {
  const owners = await readOwnersNotices(run, escalation)
  if (owners !== null) return owners
  const { tier, decision, reason, message, toTier, expiresAt, recommendation } = escalation
  const root = (await store.listChain(run.id))[0] ?? run
  // The chain has not ended while follow-ups are planned.
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

/** The notifications about a run at a tier that is paused until a person continues it. */
export async function readPauseNotices(
  { store, notifications }: Pick<TellDeps, 'store' | 'notifications'>,
  run: RunRecord,
  why: string,
): Promise<PlannedNotification[]> {
  const { tier } = run.links
  if (tier === null) return []
  const root = (await store.listChain(run.id))[0] ?? run
  const notice = noticeOfChain({
    id: root.id,
    runId: run.id,
    state: 'paused',
    message: why,
    tier,
    toTier: null,
    expiresAt: null,
    status: null,
    summary: '',
    services: [],
    prompt: root.prompt,
    workDir: run.workDir,
  })
  return notice ? notifications.plan(notice, null) : []
}
