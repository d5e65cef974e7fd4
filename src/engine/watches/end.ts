/**
 * Decides whether an open cycle is over, and how it ends. It is over when none of its runs is open, no approval is
 * pending and no follow-up is planned. All of this is in the store, and ending a cycle twice has no effect.
 */
import type { CycleOutcome } from '../../contract/cycle.ts'
import type { Clock } from '../../core/clock.ts'
import { noticeOfCycle } from '../../core/notify/cycle.ts'
import type { PlannedNotification, Standing } from '../../core/notify/plan.ts'
import { decideNextCheck } from '../../core/watch/next-check.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { EscalationRecord } from '../../store/tiers/records.ts'
import { NO_TOTALS } from '../../store/watches/cycle-totals.ts'
import type { CycleEnd } from '../../store/watches/end-cycle.ts'
import type { CycleRecord, WatchRecord } from '../../store/watches/records.ts'
import type { Notifications } from '../base/notifications.ts'
import type { Persist } from '../base/persist.ts'
import { describeCycle } from './describe.ts'
import { scheduleOf } from './schedule-of.ts'

export interface ProgressDeps {
  store: Pick<Store, 'listChain' | 'listEscalations' | 'listPlannedFollowUps'>
}

export interface NoticeDeps {
  store: Pick<Store, 'readCycleTotals' | 'listCycles'>
  notifications: Pick<Notifications, 'plan'>
}

export type EndCycleDeps = ProgressDeps &
  NoticeDeps & {
    store: Pick<Store, 'endCycle'>
    clock: Clock
    /** In [0, 1). */
    random: () => number
    notifications: Pick<Notifications, 'wake'>
    persist: Persist
  }

export interface CycleProgress {
  runs: RunRecord[]
  /** The runs that are not settled. */
  open: RunRecord[]
  /** The escalation that waits for approval. */
  asks: EscalationRecord | null
  planned: number
  escalations: Map<string, EscalationRecord>
}

export async function readProgress(
  { store }: ProgressDeps,
  { rootRunId }: CycleRecord,
): Promise<CycleProgress> {
  const runs = rootRunId ? await store.listChain(rootRunId) : []
  const escalations = await store.listEscalations(runs.map(({ id }) => id))
  const planned = rootRunId ? await store.listPlannedFollowUps({ rootRunId, sessionId: null }) : []
  return {
    runs,
    open: runs.filter(({ state }) => state.at !== 'settled'),
    asks: escalations.find(({ decision }) => decision === 'ask') ?? null,
    planned: planned.length,
    escalations: new Map(escalations.map((escalation) => [escalation.runId, escalation])),
  }
}

export const isOver = ({ open, asks, planned }: CycleProgress) =>
  open.length === 0 && asks === null && planned === 0

/** A cycle whose runs have all settled ends like its last run. */
export function endingOf({ runs, escalations }: CycleProgress): {
  outcome: CycleOutcome
  message: string | null
} {
  const last = runs.at(-1)
  if (last?.state.at !== 'settled') return { outcome: 'failed', message: 'the cycle has no run' }
  const { name, message } = last.state.outcome
  if (name === 'completed') {
    return { outcome: 'completed', message: escalations.get(last.id)?.message ?? null }
  }
  // The decision about the chain says what a held run means for it.
  const said = name === 'quarantined' ? (escalations.get(last.id)?.message ?? message) : message
  return { outcome: name === 'cancelled' ? 'cancelled' : 'failed', message: `${name}: ${said}` }
}

/** Returns false if the cycle has already ended, or is not over after all. */
export async function endCycle(
  deps: EndCycleDeps,
  watch: WatchRecord,
  cycle: CycleRecord,
  { outcome, message }: { outcome: CycleOutcome; message: string | null },
): Promise<boolean> {
  const { store, clock, notifications, persist } = deps
  const progress = await readProgress(deps, cycle)
  const said = newestReport(progress)
  const at = clock.now()
  const ended: CycleRecord = {
    ...cycle,
    state: 'ended',
    // An outcome that was decided before is kept.
    outcome: cycle.outcome ?? outcome,
    message: cycle.message ?? message,
    status: said?.status ?? null,
    summary: said?.summary ?? null,
    endedAt: at,
  }
  const notices = await readCycleNotices(deps, watch, ended, progress)
  const due = await readNextCheck(deps, watch, ended, at)
  const over = await persist(() =>
    store.endCycle(
      cycle.id,
      {
        outcome,
        message,
        status: ended.status,
        summary: ended.summary,
        notices,
        keepSession: watch.definition.memory === 'persistent',
        due,
      },
      at,
    ),
  )
  if (over && notices.length > 0) notifications.wake()
  return over
}

/** When the watch is due next, if the result of the cycle changes that. */
async function readNextCheck(
  { store, random }: EndCycleDeps,
  { definition, state, due }: WatchRecord,
  ended: CycleRecord,
  now: Date,
): Promise<CycleEnd['due']> {
  const { everyWhileNotHealthyMs, jitterMs = 0 } = definition
  const schedule = scheduleOf({ definition })
  if (everyWhileNotHealthyMs === undefined || !schedule || !due || state !== 'active') return null
  const { items } = await store.listCycles({ watchId: ended.watchId, limit: LOOK_BACK, cursor: ended.id })
  const next = decideNextCheck({
    schedule,
    everyWhileNotHealthyMs,
    jitterMs,
    due: due.at,
    ended,
    before: items,
    now,
    random: random(),
  })
  return next && { before: due.at, at: next.dueAt, fireAt: next.fireAt }
}

function newestReport({ runs, escalations }: CycleProgress) {
  for (const run of runs.toReversed()) {
    const signal = escalations.get(run.id)?.recommendation.signal
    if (signal) return signal
  }
  return null
}

/** The notifications about a cycle that ends or waits for approval. */
export async function readCycleNotices(
  { store, notifications }: NoticeDeps,
  { name, definition }: WatchRecord,
  cycle: CycleRecord,
  { runs, asks, planned, escalations }: CycleProgress,
): Promise<PlannedNotification[]> {
  const totals = (await store.readCycleTotals([cycle.id])).get(cycle.id) ?? NO_TOTALS
  const described = describeCycle(cycle, { watch: name, totals, agentSessionId: null, pending: planned })
  const last = runs.at(-1)
  const notice = noticeOfCycle({
    ...described,
    reason: (last && escalations.get(last.id)?.reason) ?? null,
    approval: asks && {
      runId: asks.runId,
      toTier: asks.toTier ?? asks.tier + 1,
      expiresAt: asks.expiresAt?.toISOString() ?? null,
    },
  })
  if (!notice) return []
  const { notify, webhook, notifyFrom } = definition
  const before = notifyFrom === 'change' ? await readStanding(store, cycle) : null
  return notifications.plan(notice, webhook ?? null, { only: notify, notifyFrom, before })
}

const LOOK_BACK = 20

/** The result of the newest earlier cycle that was not cancelled. */
async function readStanding(
  store: NoticeDeps['store'],
  { id, watchId }: CycleRecord,
): Promise<Standing | null> {
  const { items } = await store.listCycles({ watchId, limit: LOOK_BACK, cursor: id })
  return items.find(({ outcome }) => outcome !== null && outcome !== 'cancelled') ?? null
}
