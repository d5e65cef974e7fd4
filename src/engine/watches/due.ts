/** Fires due watches, starts queued cycles, and ends open cycles that are finished or have reached their time limit. */
import { RepriseError } from '../../contract/errors.ts'
import { CycleId } from '../../contract/ids.ts'
import { nextDue } from '../../core/schedule/schedule.ts'
import { formatSpan } from '../../core/span.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { CycleRecord, WatchRecord } from '../../store/watches/records.ts'
import type { Log } from '../base/log.ts'
import type { Apart, DueSource } from '../timetable/timetable.ts'
import { type EndCycleDeps, endCycle, endingOf, isOver, readProgress } from './end.ts'
import { scheduleOf } from './schedule-of.ts'
import { type StartCycleDeps, startCycle } from './start.ts'

export type DueWatchesDeps = EndCycleDeps &
  StartCycleDeps & {
    store: Pick<
      Store,
      | 'listDueWatches'
      | 'nextWatchAt'
      | 'fireWatch'
      | 'updateWatch'
      | 'getWatch'
      | 'getCycle'
      | 'listUnfinishedCycles'
      | 'concludeCycle'
    >
    log: Log
    /** In [0, 1). */
    random: () => number
  }

export interface DueWatchesHooks {
  /** Makes the timetable look at what is due. */
  wake: () => void
  /** Called when runs were queued. */
  wakeDispatcher: () => void
  cancelRun: (id: RunRecord['id']) => Promise<unknown>
}

const AT_ONCE = 50
/** A watch that fires later than this became due while the daemon was not running. */
const LATE_MS = 60_000

export class DueWatches implements DueSource {
  readonly #deps: DueWatchesDeps
  readonly #hooks: DueWatchesHooks
  /** Cycles that may have changed since they were last examined. All cycles are examined at the first look. */
  readonly #touched = new Set<CycleId>()
  #seenAll = false

  constructor(deps: DueWatchesDeps, hooks: DueWatchesHooks) {
    this.#deps = deps
    this.#hooks = hooks
  }

  /** The run may have settled. */
  noteRun({ links }: Pick<RunRecord, 'links'>): void {
    if (links.cycleId !== null) this.noteCycle(links.cycleId)
  }

  noteCycle(id: CycleId): void {
    this.#touched.add(id)
    this.#hooks.wake()
  }

  async seeTo(apart: Apart): Promise<Date | null> {
    const { store, clock } = this.#deps
    for (const watch of await store.listDueWatches(clock.now(), AT_ONCE))
      await apart({ watch: watch.name }, () => this.#fire(watch))
    const deadline = await this.#seeToCycles(apart)
    const next = await store.nextWatchAt()
    return deadline && next ? (deadline < next ? deadline : next) : (deadline ?? next)
  }

  async #fire(watch: WatchRecord): Promise<void> {
    const { store, clock, random, log } = this.#deps
    const schedule = scheduleOf(watch)
    if (!schedule || !watch.due || watch.state !== 'active') {
      await this.#deps.persist(() => store.updateWatch(watch.id, { due: null }, clock.now()))
      return
    }
    const now = clock.now()
    const { jitterMs = 0, overlap } = watch.definition
    const next = nextDue(schedule, { dueAt: watch.due.at, now, jitterMs, random: random() })
    const late = next.missed > 0 || now.getTime() - watch.due.fireAt.getTime() > LATE_MS
    const cycle = await this.#deps.persist(() =>
      store.fireWatch(
        watch,
        {
          id: CycleId.create(now),
          watchId: watch.id,
          trigger: late ? 'catch-up' : 'schedule',
          reason: late ? `due at ${watch.due?.at.toISOString()}; ${next.missed} more missed` : null,
          events: [],
          dueAt: now,
          skip: overlap === 'queue' ? null : 'the previous cycle had not ended',
        },
        { at: next.dueAt, fireAt: next.fireAt },
      ),
    )
    if (cycle) log.info({ watch: watch.name, cycle: cycle.id, state: cycle.state }, 'a watch fired')
  }

  /** Returns the earliest deadline of an open cycle. */
  async #seeToCycles(apart: Apart): Promise<Date | null> {
    const { store, clock } = this.#deps
    const unfinished = await store.listUnfinishedCycles()
    const all = !this.#seenAll
    this.#seenAll = true
    const touched = new Set(this.#touched)
    this.#touched.clear()
    let deadline: Date | null = null
    const busy = new Set<string>()
    for (const cycle of unfinished) {
      if (cycle.state !== 'open') continue
      const late = cycle.deadlineAt !== null && cycle.deadlineAt <= clock.now()
      const looked = all || late || touched.has(cycle.id)
      const over = looked && (await apart({ cycle: cycle.id }, () => this.#examine(cycle)))
      if (over) continue
      // The examination failed, so it is repeated at the next look.
      if (over === null) this.#touched.add(cycle.id)
      busy.add(cycle.watchId)
      if (cycle.deadlineAt && !late && (deadline === null || cycle.deadlineAt < deadline))
        deadline = cycle.deadlineAt
    }
    for (const cycle of unfinished) {
      if (cycle.state !== 'queued' || busy.has(cycle.watchId)) continue
      const started = await apart({ cycle: cycle.id }, () => this.#start(cycle))
      if (!started) continue
      busy.add(cycle.watchId)
      if (deadline === null || started < deadline) deadline = started
    }
    return deadline
  }

  /** Returns true if the cycle has ended. */
  async #examine(cycle: CycleRecord): Promise<boolean> {
    const { store, clock } = this.#deps
    const watch = await store.getWatch(cycle.watchId)
    if (!watch) throw new Error(`cycle ${cycle.id} belongs to no watch`)
    let progress = await readProgress(this.#deps, cycle)
    const late = cycle.deadlineAt !== null && cycle.deadlineAt <= clock.now()
    let concluded: CycleRecord | null = cycle.outcome === null ? null : cycle
    // Waiting for approval does not count: it has a time limit of its own, and the deadline is extended afterwards.
    if (late && concluded === null && !isOver(progress) && progress.asks === null) {
      const took = formatSpan(clock.now().getTime() - (cycle.startedAt ?? cycle.dueAt).getTime())
      const left = [
        progress.open.length > 0 ? 'a run was still working' : '',
        progress.planned > 0
          ? `${progress.planned} follow-up${progress.planned === 1 ? ' was' : 's were'} pending`
          : '',
      ].filter(Boolean)
      const message = `reached its time limit after ${took}; ${left.join(' and ')}`
      concluded = await this.#deps.persist(() =>
        store.concludeCycle(cycle.id, 'timed-out', message, clock.now()),
      )
      progress = await readProgress(this.#deps, cycle)
    }
    if (concluded && !isOver(progress)) {
      // If no run is open, cancelling the root run cancels the approval or the follow-ups that the chain waits for.
      // Runs whose cancellation is already requested are skipped; the cycle is examined again when they settle.
      const open = progress.open.filter(({ cancelRequested }) => !cancelRequested).map(({ id }) => id)
      const ids = progress.open.length > 0 ? open : [cycle.rootRunId]
      for (const id of ids) if (id) await this.#hooks.cancelRun(id).catch(unlessSettled)
      progress = await readProgress(this.#deps, cycle)
    }
    return isOver(progress) && endCycle(this.#deps, watch, concluded ?? cycle, endingOf(progress))
  }

  /** Returns the cycle's deadline, or null if it was not started. */
  async #start(cycle: CycleRecord): Promise<Date | null> {
    const { store } = this.#deps
    const watch = await store.getWatch(cycle.watchId)
    if (!watch) throw new Error(`cycle ${cycle.id} belongs to no watch`)
    if (!(await startCycle(this.#deps, watch, cycle))) {
      // Another queued cycle may be able to start, so look again.
      this.#hooks.wake()
      return null
    }
    this.#hooks.wakeDispatcher()
    return (await store.getCycle(cycle.id))?.deadlineAt ?? null
  }
}

/** Ignores the error if the run has settled meanwhile. */
function unlessSettled(error: unknown): void {
  if (!(error instanceof RepriseError) || error.code !== 'run-settled') throw error
}
