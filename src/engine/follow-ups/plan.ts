/** Plans a follow-up for an agent or a person: checks it against the limits and stores it. */
import { randomUUID } from 'node:crypto'
import { FollowUpId, type RunId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import { type FollowUpWish, planFollowUp } from '../../core/schedule/follow-up.ts'
import type { RequestKey } from '../../store/base/request-keys.ts'
import type { FollowUpRecord } from '../../store/follow-ups/records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Persist } from '../base/persist.ts'
import type { FollowUpSettings } from '../base/settings.ts'

export interface PlanDeps {
  store: Pick<
    Store,
    'findFollowUpOfCall' | 'listPlannedFollowUps' | 'addFollowUp' | 'listChain' | 'getCycle' | 'getRun'
  >
  clock: Clock
  persist: Persist
  settings: { followUps: FollowUpSettings; maxDurationMs: number }
}

export interface Planner {
  prompt: string
  reason: string | null
  createdBy: 'agent' | 'person'
  wish: FollowUpWish
  run: RunRecord | null
  sessionId: FollowUpRecord['sessionId']
  call: FollowUpRecord['call']
  /** The idempotency key of a person's request. */
  key?: RequestKey | null
}

export type Planned = { ok: true; followUp: FollowUpRecord } | { ok: false; reason: string }

export async function addFollowUp(
  deps: PlanDeps,
  { run, sessionId, wish, ...asked }: Planner,
): Promise<Planned> {
  const { store, clock, settings, persist } = deps
  const { maxPending, maxPendingTotal, maxAheadMs } = settings.followUps
  const known = asked.call && (await store.findFollowUpOfCall(asked.call))
  if (known) return { ok: true, followUp: known }
  const rootRunId = run && (await rootOf(deps, run))
  const pending = (await store.listPlannedFollowUps({ rootRunId, sessionId })).length
  const now = clock.now()
  const deadlineAt = run && (await deadlineOf(deps, run, rootRunId, now))
  const plan = planFollowUp(wish, { now, deadlineAt, maxAheadMs, pending, maxPending })
  if (!plan.ok) return plan
  const record: FollowUpRecord = {
    id: FollowUpId.create(now),
    state: 'planned',
    prompt: asked.prompt,
    messageId: randomUUID(),
    reason: asked.reason,
    createdBy: asked.createdBy,
    runId: run?.id ?? null,
    rootRunId,
    sessionId,
    cycleId: run?.links.cycleId ?? null,
    tier: run?.links.tier ?? null,
    call: asked.call,
    cron: plan.cron,
    timeZone: 'timeZone' in wish ? (wish.timeZone ?? null) : null,
    recurring: plan.recurring,
    relative: 'inMs' in wish,
    dueAt: plan.dueAt,
    expiresAt: plan.expiresAt,
    firedCount: 0,
    firedAt: null,
    firedRunId: null,
    firedAttemptId: null,
    firedMessageId: null,
    cancelledBy: null,
    message: null,
    createdAt: now,
    endedAt: null,
  }
  const stored = await persist(() =>
    store.addFollowUp(record, { own: maxPending, all: maxPendingTotal }, asked.key),
  )
  if (stored === 'over') return { ok: false, reason: OVER }
  return stored === 'full'
    ? { ok: false, reason: `The limit of follow-ups is reached: ${maxPendingTotal} are already planned.` }
    : { ok: true, followUp: stored }
}

const OVER =
  'No follow-up can be planned here any more: the cycle has ended or is being cancelled. A person can plan one by naming the session.'

/** The root of the run's chain; null for a run that is in no chain. */
export async function rootOf({ store }: Pick<PlanDeps, 'store'>, run: RunRecord): Promise<RunId | null> {
  if (run.links.tier === null) return null
  return (await store.listChain(run.id))[0]?.id ?? run.id
}

/**
 * The end of the run's cycle, or else the time at which its chain reaches the maximum duration; null if it has neither.
 */
async function deadlineOf(
  { store, settings }: PlanDeps,
  run: RunRecord,
  rootRunId: RunId | null,
  now: Date,
): Promise<Date | null> {
  const cycle = run.links.cycleId && (await store.getCycle(run.links.cycleId))
  if (cycle) return cycle.outcome === null ? cycle.deadlineAt : (cycle.endedAt ?? now)
  if (rootRunId === null) return null
  const root = rootRunId === run.id ? run : await store.getRun(rootRunId)
  const since = root?.startedAt ?? root?.createdAt ?? run.createdAt
  return new Date(since.getTime() + settings.maxDurationMs)
}
