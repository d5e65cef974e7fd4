/**
 * Sees to it that what is due happens. What that is, its sources say: watches and their cycles, follow-ups. It keeps
 * nothing that matters: every source reads the store at each look, and every step is guarded there, so that a look that
 * is repeated, or cut off by a crash, does nothing twice.
 */
import type { Clock } from '../../core/clock.ts'
import { Alarm } from '../base/alarm.ts'
import type { Log } from '../base/log.ts'
import { Detached } from '../base/persist.ts'

/** Does one thing that is due. One that fails keeps none of the others waiting. Null: it failed, and is tried again. */
export type Apart = <T>(what: object, work: () => Promise<T>) => Promise<T | null>

export interface DueSource {
  /** Does what is due, and returns when something is due next; null: when woken. */
  seeTo: (apart: Apart) => Promise<Date | null>
}

export interface TimetableDeps {
  clock: Clock
  log: Log
  /** Resolves when the stored times fit the clock. */
  followClock: () => Promise<void>
}

/** How long after a failure what is due is tried again. */
const RETRY_MS = 10_000

export class Timetable {
  readonly #deps: TimetableDeps
  readonly #sources: readonly DueSource[]
  readonly #alarm: Alarm
  /** Something failed in the look that is under way. */
  #failed = false

  /** The sources are asked in this order at each look. */
  constructor(deps: TimetableDeps, sources: readonly DueSource[]) {
    this.#deps = deps
    this.#sources = sources
    this.#alarm = new Alarm({ ...deps, name: 'what is due', look: () => this.#look() })
  }

  wake(): void {
    this.#alarm.wake()
  }

  close(): Promise<void> {
    return this.#alarm.close()
  }

  async #look(): Promise<Date | null> {
    this.#failed = false
    await this.#deps.followClock()
    const times: Date[] = []
    for (const source of this.#sources) {
      const next = await source.seeTo((what, work) => this.#apart(what, work))
      if (next !== null) times.push(next)
    }
    if (!this.#failed) return earliest(times)
    const now = this.#deps.clock.now()
    // What is due and failed is still due: not again at once.
    return earliest([...times.filter((at) => at > now), new Date(now.getTime() + RETRY_MS)])
  }

  async #apart<T>(what: object, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Detached) throw error
      this.#failed = true
      this.#deps.log.error({ ...what, error: String((error as Error)?.stack ?? error) }, 'what is due failed')
      return null
    }
  }
}

const earliest = (times: readonly Date[]): Date | null =>
  times.reduce<Date | null>((first, at) => (first === null || at < first ? at : first), null)
