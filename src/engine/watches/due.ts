/** Fires watches when they are due, begins queued cycles, and ends open ones when they are over or out of time. */
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
  /** Looks at what is due, soon. */
  wake: () => void
  /** Runs have been queued. */
  wakeDispatcher: () => void
  cancelRun: (id: RunRecord['id']) => Promise<unknown>
}

const AT_ONCE = 50
/** A watch that fires later than this was due while the daemon was not there. */
const LATE_MS = 60_000

export class DueWatches implements DueSource {
  readonly #deps: DueWatchesDeps
  readonly #hooks: DueWatchesHooks
  /** Cycles in which something has happened; all of them at first. */
  readonly #touched = new Set<CycleId>()
  #seenAll = false

  constructor(deps: DueWatchesDeps, hooks: DueWatchesHooks) {
    this.#deps = deps
    this.#hooks = hooks
  }

  /** Something became of a run: it has settled, perhaps. */
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
          skip: overlap === 'queue' ? null : 'the cycle before was not over',
        },
        { at: next.dueAt, fireAt: next.fireAt },
      ),
    )
    if (cycle) log.info({ watch: watch.name, cycle: cycle.id, state: cycle.state }, 'a watch fired')
  }

  /** Returns when the first of those that are open runs out of time. */
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
      // Not known: looked at again.
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

  /** True if it is over. */
  async #examine(cycle: CycleRecord): Promise<boolean> {
    const { store, clock } = this.#deps
    const watch = await store.getWatch(cycle.watchId)
    if (!watch) throw new Error(`cycle ${cycle.id} belongs to no watch`)
    let progress = await readProgress(this.#deps, cycle)
    const late = cycle.deadlineAt !== null && cycle.deadlineAt <= clock.now()
    let concluded: CycleRecord | null = cycle.outcome === null ? null : cycle
    // While a person is asked time stands still: that has a limit of its own, and is given back.
    if (late && concluded === null && !isOver(progress) && progress.asks === null) {
      const took = formatSpan(clock.now().getTime() - (cycle.startedAt ?? cycle.dueAt).getTime())
      const left = [
        progress.open.length > 0 ? 'a run was at work' : '',
        progress.planned > 0
          ? `${progress.planned} follow-up${progress.planned === 1 ? ' was' : 's were'} pending`
          : '',
      ].filter(Boolean)
      const message = `its time was over after ${took}; ${left.join(' and ')}`
      concluded = await this.#deps.persist(() =>
        store.concludeCycle(cycle.id, 'timed-out', message, clock.now()),
      )
      progress = await readProgress(this.#deps, cycle)
    }
    if (concluded && !isOver(progress)) {
      // Where no run is at work, the chain is cancelled for what it waits for. Once: whoever cancels wakes us.
      const open = progress.open.filter(({ cancelRequested }) => !cancelRequested).map(({ id }) => id)
      const ids = progress.open.length > 0 ? open : [cycle.rootRunId]
      for (const id of ids) if (id) await this.#hooks.cancelRun(id).catch(unlessSettled)
      progress = await readProgress(this.#deps, cycle)
    }
    return isOver(progress) && endCycle(this.#deps, watch, concluded ?? cycle, endingOf(progress))
  }

  /** Returns its deadline; null: it was not begun. */
  async #start(cycle: CycleRecord): Promise<Date | null> {
    const { store } = this.#deps
    const watch = await store.getWatch(cycle.watchId)
    if (!watch) throw new Error(`cycle ${cycle.id} belongs to no watch`)
    if (!(await startCycle(this.#deps, watch, cycle))) {
      // Another one may be able to: it is looked at again.
      this.#hooks.wake()
      return null
    }
    this.#hooks.wakeDispatcher()
    return (await store.getCycle(cycle.id))?.deadlineAt ?? null
  }
}

/** A run that has ended meanwhile need not be told. */
function unlessSettled(error: unknown): void {
  if (!(error instanceof RepriseError) || error.code !== 'run-settled') throw error
}
