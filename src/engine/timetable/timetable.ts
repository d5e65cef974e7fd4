/**
 * Executes what is due. Its sources (watches with their cycles, follow-ups) say what that is. It keeps no state of its
 * own: every source reads the store at each look, and every step is guarded there, so a look that is repeated, or
 * interrupted by a crash, does nothing twice.
 */
import type { Clock } from '../../core/clock.ts'
import { Alarm } from '../base/alarm.ts'
import type { Log } from '../base/log.ts'
import { Detached } from '../base/persist.ts'

/** Executes one due item. A failure does not delay the other items. Null means that it failed and will be retried. */
export type Apart = <T>(what: object, work: () => Promise<T>) => Promise<T | null>

export interface DueSource {
  /** Executes what is due, and returns when something is due next; null means only when woken. */
  seeTo: (apart: Apart) => Promise<Date | null>
}

export interface TimetableDeps {
  clock: Clock
  log: Log
  /** Resolves when the stored times are consistent with the clock. */
  followClock: () => Promise<void>
}

/** The delay before a failed due item is retried. */
const RETRY_MS = 10_000

export class Timetable {
  readonly #deps: TimetableDeps
  readonly #sources: readonly DueSource[]
  readonly #alarm: Alarm
  /** Some item failed during the current look. */
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
    // An item that failed is still due, but must not be retried at once.
    return earliest([...times.filter((at) => at > now), new Date(now.getTime() + RETRY_MS)])
  }

  async #apart<T>(what: object, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Detached) throw error
      this.#failed = true
      this.#deps.log.error({ ...what, error: String((error as Error)?.stack ?? error) }, 'a due item failed')
      return null
    }
  }
}

const earliest = (times: readonly Date[]): Date | null =>
  times.reduce<Date | null>((first, at) => (first === null || at < first ? at : first), null)
