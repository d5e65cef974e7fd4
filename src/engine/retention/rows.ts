/**
 * Sweeps the database: old runs with all that belongs to them, the events of younger ones, cycles, follow-ups,
 * notifications and sessions. The store decides what may go, again in the transaction that deletes it; every step is a
 * short transaction. Totals are counted when a run ends, so they stay.
 */
import type { RunId } from '../../contract/ids.ts'
import type { RunCursor } from '../../store/retention/sweep-runs.ts'
import type { Store } from '../../store/store.ts'
import type { KeepSettings } from '../base/settings.ts'
import { cutoff, type Sweep } from './tally.ts'

export interface SweepRowsDeps {
  store: Pick<
    Store,
    | 'listOldRuns'
    | 'measureGroup'
    | 'deleteGroup'
    | 'measureEvents'
    | 'thinEvents'
    | 'countOld'
    | 'deleteOld'
    | 'countEndedNotifications'
    | 'deleteEndedNotifications'
    | 'listUnusedSessions'
    | 'forgetUnusedSession'
  >
  closing: AbortSignal
  settings: { keep: Pick<KeepSettings, 'runsMs' | 'eventsMs' | 'sessionsMs' | 'auditMs'> }
}

const PAGE = 200

export async function sweepRows(deps: SweepRowsDeps, sweep: Sweep): Promise<void> {
  const { keep } = deps.settings
  const gone = await sweepRuns(deps, sweep, cutoff(sweep, keep.runsMs) ?? new Date(0))
  const eventsBefore = cutoff(sweep, keep.eventsMs)
  if (eventsBefore) await sweepEvents(deps, sweep, eventsBefore, gone)
  if (eventsBefore) await sweepNotifications(deps, sweep, eventsBefore)
  const runsBefore = cutoff(sweep, keep.runsMs)
  // Cycles and follow-ups that have no runs, or none any more.
  if (runsBefore)
    for (const kind of ['cycles', 'follow-ups'] as const) await sweepOld(deps, sweep, kind, runsBefore)
  const auditBefore = cutoff(sweep, keep.auditMs)
  if (auditBefore) await sweepOld(deps, sweep, 'audit', auditBefore)
  const sessionsBefore = cutoff(sweep, keep.sessionsMs)
  if (sessionsBefore) await sweepSessions(deps, sweep, sessionsBefore)
}

/**
 * Returns the runs that went, or would go. Runs of deleted conversations go also if runs are kept forever. Each group is
 * looked at once: a long chain that is going on would otherwise be read as often as it has runs.
 */
async function sweepRuns(deps: SweepRowsDeps, sweep: Sweep, before: Date): Promise<Set<RunId>> {
  const { store } = deps
  const { tally } = sweep
  const seen = new Set<RunId>()
  const gone = new Set<RunId>()
  for await (const id of oldRuns(deps, before, 'runs')) {
    if (seen.has(id)) continue
    const visit = sweep.dryRun ? store.measureGroup : store.deleteGroup
    const { runIds, swept: group } = await visit(id, before)
    for (const runId of runIds) seen.add(runId)
    if (!group) continue
    for (const runId of runIds) gone.add(runId)
    tally.add('runs', group.runs)
    tally.add('events', group.events)
    tally.add('jobs', { count: group.jobs, bytes: 0 })
    tally.add('cycles', { count: group.cycles, bytes: 0 })
    tally.add('follow-ups', { count: group.followUps, bytes: 0 })
  }
  return gone
}

async function sweepEvents(
  deps: SweepRowsDeps,
  { dryRun, tally }: Sweep,
  before: Date,
  gone: ReadonlySet<RunId>,
): Promise<void> {
  const { store, closing } = deps
  const seen = new Set(gone)
  for await (const id of oldRuns(deps, before, 'events')) {
    if (seen.has(id)) continue
    for (let done = false; !done && !closing.aborted; ) {
      const step = dryRun
        ? { ...(await store.measureEvents(id, before)), done: true }
        : await store.thinEvents(id, before)
      for (const runId of step.runIds) seen.add(runId)
      if (step.swept) tally.add('events', step.swept)
      done = step.done
    }
  }
}

async function* oldRuns(
  { store, closing }: SweepRowsDeps,
  before: Date,
  what: 'runs' | 'events',
): AsyncGenerator<RunId> {
  let after: RunCursor | null = null
  do {
    const page: RunCursor[] = await store.listOldRuns({ before, after, limit: PAGE }, what)
    for (const { id } of page) {
      if (closing.aborted) return
      yield id
    }
    after = page.length === PAGE ? (page.at(-1) ?? null) : null
  } while (after)
}

async function sweepNotifications(
  { store }: SweepRowsDeps,
  { dryRun, tally }: Sweep,
  before: Date,
): Promise<void> {
  tally.add('notifications', await store.countEndedNotifications(before))
  if (!dryRun) await store.deleteEndedNotifications(before)
}

async function sweepOld(
  { store, closing }: SweepRowsDeps,
  { dryRun, tally }: Sweep,
  kind: 'cycles' | 'follow-ups' | 'audit',
  before: Date,
): Promise<void> {
  if (dryRun) {
    tally.add(kind, { count: await store.countOld(kind, before), bytes: 0 })
    return
  }
  for (let count = -1; count !== 0 && !closing.aborted; ) {
    count = await store.deleteOld(kind, before)
    tally.add(kind, { count, bytes: 0 })
  }
}

async function sweepSessions(
  { store, closing }: SweepRowsDeps,
  { dryRun, tally }: Sweep,
  before: Date,
): Promise<void> {
  for (const id of await store.listUnusedSessions(before)) {
    if (closing.aborted) return
    if (dryRun || (await store.forgetUnusedSession(id, before))) tally.add('sessions', { count: 1, bytes: 0 })
  }
}
