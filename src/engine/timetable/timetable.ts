/**
 * Sees to it that what is due happens: watches fire, queued cycles begin, open ones end or run out of time, follow-ups
 * are given to their sessions. It keeps nothing that matters: everything is read from the store at each look, and every
 * step is guarded there, so that a look that is repeated, or cut off by a crash, does nothing twice.
 */
import { RepriseError } from '../../contract/errors.ts'
import { CycleId } from '../../contract/ids.ts'
import { firstDue, nextDue, type Schedule } from '../../core/schedule/schedule.ts'
import { formatSpan } from '../../core/span.ts'
import type { RunRecord } from '../../store/base/records.ts'
import type { CycleRecord, WatchRecord } from '../../store/watches/records.ts'
import { Alarm } from '../base/alarm.ts'
import { Detached, persist } from '../base/persist.ts'
import { fireFollowUp } from '../follow-ups/fire.ts'
import type { EngineParts } from '../parts.ts'
import { endCycle, endingOf, isOver, readProgress } from '../watches/end.ts'
import { scheduleOf } from '../watches/schedule-of.ts'
import { startCycle } from '../watches/start.ts'

export interface TimetableDeps {
  /** Runs have been queued. */
  wakeDispatcher: () => void
  cancelRun: (id: RunRecord['id']) => Promise<unknown>
}

const AT_ONCE = 50
/** Later than this, it was the daemon that was not there. */
const LATE_MS = 60_000
/** When something failed that was due: it is tried again. */
const RETRY_MS = 10_000

export class Timetable {
  readonly #parts: EngineParts
  readonly #deps: TimetableDeps
  readonly #alarm: Alarm
  /** Cycles in which something has happened; all of them at first. */
  readonly #touched = new Set<CycleId>()
  #seenAll = false
  /** There may be follow-ups that wait for a run to end. */
  #planned = true
  /** Something failed in the look that is under way. */
  #failed = false

  constructor(parts: EngineParts, deps: TimetableDeps) {
    this.#parts = parts
    this.#deps = deps
    this.#alarm = new Alarm({ ...parts, name: 'what is due', look: () => this.#look() })
  }

  wake(): void {
    this.#alarm.wake()
  }

  close(): Promise<void> {
    return this.#alarm.close()
  }

  /** A follow-up was planned. */
  notePlanned(): void {
    this.#planned = true
    this.wake()
  }

  /** Something became of a run: it has settled, perhaps. */
  noteRun({ links }: Pick<RunRecord, 'links'>): void {
    if (links.cycleId !== null) this.#touched.add(links.cycleId)
    if (links.cycleId !== null || this.#planned) this.wake()
  }

  noteCycle(id: CycleId): void {
    this.#touched.add(id)
    this.wake()
  }

  async #look(): Promise<Date | null> {
    const { store, clock } = this.#parts
    this.#failed = false
    await this.#parts.followClock()
    for (const watch of await store.listDueWatches(clock.now(), AT_ONCE))
      await this.#apart({ watch: watch.name }, () => this.#fire(watch))
    const deadline = await this.#seeToCycles()
    // One moment for both questions: what becomes due between two would be found by neither.
    const asOf = clock.now()
    await this.#fireFollowUps(asOf)
    const followUp = await store.nextFollowUpAt(asOf)
    const times = [await store.nextWatchAt(), deadline, followUp].filter((at) => at !== null)
    if (!this.#failed) return earliest(times)
    const now = clock.now()
    // What is due and failed is still due: not again at once.
    return earliest([...times.filter((at) => at > now), new Date(now.getTime() + RETRY_MS)])
  }

  /** One that fails keeps none of the others waiting. Null: it failed, and is tried again after a while. */
  async #apart<T>(what: object, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Detached) throw error
      this.#failed = true
      this.#parts.log.error(
        { ...what, error: String((error as Error)?.stack ?? error) },
        'what is due failed',
      )
      return null
    }
  }

  firstDue({ definition }: Pick<WatchRecord, 'definition'>, schedule: Schedule): WatchRecord['due'] {
    const { clock, random } = this.#parts
    const { jitterMs = 0 } = definition
    const { dueAt, fireAt } = firstDue(schedule, { now: clock.now(), jitterMs, random: random() })
    return { at: dueAt, fireAt }
  }

  async #fire(watch: WatchRecord): Promise<void> {
    const { store, clock, random, log } = this.#parts
    const schedule = scheduleOf(watch)
    if (!schedule || !watch.due || watch.state !== 'active') {
      await persist(this.#parts, () => store.updateWatch(watch.id, { due: null }, clock.now()))
      return
    }
    const now = clock.now()
    const { jitterMs = 0, overlap } = watch.definition
    const next = nextDue(schedule, { dueAt: watch.due.at, now, jitterMs, random: random() })
    const late = next.missed > 0 || now.getTime() - watch.due.fireAt.getTime() > LATE_MS
    const cycle = await persist(this.#parts, () =>
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
  async #seeToCycles(): Promise<Date | null> {
    const { store, clock } = this.#parts
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
      const over = looked && (await this.#apart({ cycle: cycle.id }, () => this.#examine(cycle)))
      if (over) continue
      // Not known: looked at again.
      if (over === null) this.#touched.add(cycle.id)
      busy.add(cycle.watchId)
      if (cycle.deadlineAt && !late && (deadline === null || cycle.deadlineAt < deadline))
        deadline = cycle.deadlineAt
    }
    for (const cycle of unfinished) {
      if (cycle.state !== 'queued' || busy.has(cycle.watchId)) continue
      const started = await this.#apart({ cycle: cycle.id }, () => this.#start(cycle))
      if (!started) continue
      busy.add(cycle.watchId)
      if (deadline === null || started < deadline) deadline = started
    }
    return deadline
  }

  /** True if it is over. */
  async #examine(cycle: CycleRecord): Promise<boolean> {
    const { store, clock } = this.#parts
    const watch = await store.getWatch(cycle.watchId)
    if (!watch) throw new Error(`cycle ${cycle.id} belongs to no watch`)
    let progress = await readProgress(this.#parts, cycle)
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
      concluded = await persist(this.#parts, () =>
        store.concludeCycle(cycle.id, 'timed-out', message, clock.now()),
      )
      progress = await readProgress(this.#parts, cycle)
    }
    if (concluded && !isOver(progress)) {
      // Where no run is at work, the chain is cancelled for what it waits for. Once: whoever cancels wakes us.
      const open = progress.open.filter(({ cancelRequested }) => !cancelRequested).map(({ id }) => id)
      const ids = progress.open.length > 0 ? open : [cycle.rootRunId]
      for (const id of ids) if (id) await this.#deps.cancelRun(id).catch(unlessSettled)
      progress = await readProgress(this.#parts, cycle)
    }
    return isOver(progress) && endCycle(this.#parts, watch, concluded ?? cycle, endingOf(progress))
  }

  /** Returns its deadline; null: it was not begun. */
  async #start(cycle: CycleRecord): Promise<Date | null> {
    const { store } = this.#parts
    const watch = await store.getWatch(cycle.watchId)
    if (!watch) throw new Error(`cycle ${cycle.id} belongs to no watch`)
    if (!(await startCycle(this.#parts, watch, cycle))) {
      // Another one may be able to: it is looked at again.
      this.wake()
      return null
    }
    this.#deps.wakeDispatcher()
    return (await store.getCycle(cycle.id))?.deadlineAt ?? null
  }

  async #fireFollowUps(asOf: Date): Promise<void> {
    const { store } = this.#parts
    for (;;) {
      const due = await store.listDueFollowUps(asOf, AT_ONCE)
      const fired = await Promise.all(
        due.map((followUp) =>
          this.#apart({ followUp: followUp.id }, () => fireFollowUp(this.#parts, followUp)),
        ),
      )
      for (const { cycleId } of due) if (cycleId !== null) this.#touched.add(cycleId)
      if (fired.includes(true)) this.#deps.wakeDispatcher()
      // What was missed may have been the last that its cycle waited for.
      if (fired.includes(false)) this.wake()
      if (due.length < AT_ONCE || this.#failed) break
    }
    this.#planned = (await store.listFollowUps({ limit: 1, state: 'planned' })).items.length > 0
  }
}

/** Whoever has ended meanwhile need not be told. */
function unlessSettled(error: unknown): void {
  if (!(error instanceof RepriseError) || error.code !== 'run-settled') throw error
}

const earliest = (times: readonly Date[]): Date | null =>
  times.reduce<Date | null>((first, at) => (first === null || at < first ? at : first), null)
