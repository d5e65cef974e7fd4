/**
 * Keeps the stored times consistent with the clock. It detects that the clock was set, or that the daemon was
 * suspended, moves the stored times that must move (core/steady-clock.ts says which), and only then exposes the new
 * wall clock time.
 *
 * consistent → (the clock differs from the stored times) → moving, `now` still the old time → consistent. Code that
 * acts on a deadline calls `follow` first. A crash while moving leaves the stored times and the stored difference
 * between the clocks unchanged; the next daemon detects the jump by that difference, unless the machine was restarted.
 */
import { cronTimes } from '../../core/schedule/cron.ts'
import { firstDue, parseSchedule } from '../../core/schedule/schedule.ts'
import { machineTimeZone } from '../../core/schedule/time-zone.ts'
import {
  type ClockChange,
  jumpBetween,
  NO_CHANGE,
  type SteadyClock,
  TICK_MS,
} from '../../core/steady-clock.ts'
import { readBootId } from '../../process/proc.ts'
import { CLOCK_FACT, type MoveTimes } from '../../store/clock-changes.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { Detached, type Persist } from '../base/persist.ts'

export interface TimekeepingDeps {
  store: Pick<Store, 'getFact' | 'limitWaits' | 'moveTimes' | 'listFollowUps' | 'listWatches'>
  clock: SteadyClock
  log: Log
  /** In [0, 1). */
  random: () => number
  persist: Persist
}

/** Above the limit of planned follow-ups. */
const MAX_FOLLOW_UPS = 100_000

export class Timekeeping {
  readonly #deps: TimekeepingDeps
  readonly #onMoved: (change: ClockChange) => void
  #timer: NodeJS.Timeout | undefined
  #following: Promise<void> | null = null

  /** `onMoved` is called when due times may have changed. */
  constructor(deps: TimekeepingDeps, onMoved: (change: ClockChange) => void) {
    this.#deps = deps
    this.#onMoved = onMoved
  }

  /** Must be called before any stored time is compared with the clock. */
  async open(): Promise<void> {
    const { store, clock } = this.#deps
    const stored = parseReading(await store.getFact(CLOCK_FACT))
    // The clock may have been set since this daemon was started; the stored reading covers that, too.
    const pending = clock.unfollowed()
    if (stored?.bootId === readBootId()) {
      const jumpMs = jumpBetween(stored.differenceMs, this.#differenceMs(pending.jumpMs))
      await this.#move({ jumpMs, missedMs: 0 }, pending.jumpMs)
    } else {
      if (stored) await this.#deps.persist(() => store.limitWaits(this.#nowAfter(pending.jumpMs)))
      await this.#move(NO_CHANGE, pending.jumpMs)
    }
    clock.follow(pending)
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#following
  }

  /** Resolves when the stored times are consistent with the clock. */
  async follow(): Promise<void> {
    while (this.#following || isChange(this.#deps.clock.unfollowed())) {
      this.#following ??= this.#followOnce().finally(() => {
        this.#following = null
      })
      await this.#following
    }
  }

  #tick(): void {
    const { clock, log } = this.#deps
    if (this.#following || !isChange(clock.unfollowed())) return
    this.follow().catch((error) => {
      if (!(error instanceof Detached)) log.error({ error: String(error) }, 'could not follow the clock')
    })
  }

  async #followOnce(): Promise<void> {
    const { clock, log } = this.#deps
    const change = clock.unfollowed()
    if (change.jumpMs !== 0) log.warn(change, 'the clock was set; stored due times were moved with it')
    if (change.missedMs !== 0) log.warn(change, 'the daemon was suspended; that time is not counted')
    await this.#move(change, change.jumpMs)
    clock.follow(change)
    this.#onMoved(change)
  }

  /** `followedMs` is the part of the clock's own unfollowed jump that is followed with this. */
  async #move(change: ClockChange, followedMs: number): Promise<void> {
    const { store } = this.#deps
    const reading = { bootId: readBootId(), differenceMs: this.#differenceMs(followedMs) }
    const now = this.#nowAfter(followedMs)
    const watches = change.jumpMs === 0 ? [] : await this.#watchesAfter(change.jumpMs, now)
    const followUps = change.jumpMs < 0 ? await this.#followUpsAfterJumpBack(now) : []
    const clock = JSON.stringify(reading)
    await this.#deps.persist(() => store.moveTimes({ ...change, watches, followUps, clock }))
  }

  /** The difference between the wall clock time and the time since boot, once this jump has been followed. */
  #differenceMs(followedMs: number): number {
    return this.#nowAfter(followedMs).getTime() - this.#deps.clock.monotonicMs()
  }

  /** The wall clock time that applies once this jump has been followed. A further one may be pending. */
  #nowAfter(followedMs: number): Date {
    return new Date(this.#deps.clock.now().getTime() + followedMs)
  }

  async #followUpsAfterJumpBack(now: Date): Promise<NonNullable<MoveTimes['followUps']>> {
    const { items } = await this.#deps.store.listFollowUps({ limit: MAX_FOLLOW_UPS, state: 'planned' })
    return items.flatMap(({ id, cron, timeZone }) => {
      const dueAt = cron === null ? null : cronTimes(cron, timeZone ?? machineTimeZone())(now)
      return dueAt ? [{ id, dueAt }] : []
    })
  }

  /**
   * Intervals keep their remaining time. A time of day that a forward jump skipped is due now; after a backward jump it
   * is computed again.
   */
  async #watchesAfter(jumpMs: number, now: Date): Promise<MoveTimes['watches']> {
    const { store, random } = this.#deps
    const moved = (at: Date) => new Date(at.getTime() + jumpMs)
    return (await store.listWatches()).flatMap(({ id, due, definition }) => {
      const parsed = parseSchedule(definition)
      const schedule = parsed.ok ? parsed.schedule : null
      if (!schedule || !due) return []
      if (schedule.kind === 'every') return [{ id, due: { at: moved(due.at), fireAt: moved(due.fireAt) } }]
      if (jumpMs > 0) return []
      const { dueAt, fireAt } = firstDue(schedule, {
        now,
        jitterMs: definition.jitterMs ?? 0,
        random: random(),
      })
      return [{ id, due: { at: dueAt, fireAt } }]
    })
  }
}

const isChange = ({ jumpMs, missedMs }: ClockChange) => jumpMs !== 0 || missedMs !== 0

interface Reading {
  bootId: string
  differenceMs: number
}

function parseReading(text: string | null): Reading | null {
  return text === null ? null : (JSON.parse(text) as Reading)
}
