/**
 * Looks at something when woken, and again at the time that the look itself names. One look at a time; a wake during
 * one leads to another. What is looked at is in the store: a wake that is lost costs time, nothing else.
 */
import type { Clock } from '../../core/clock.ts'
import type { Log } from './log.ts'

/** The time of day may be changed meanwhile, so no sleep is long. */
const MAX_SLEEP_MS = 30_000
const ERROR_SLEEP_MS = 1000

export interface AlarmParts {
  clock: Clock
  log: Log
  /** For the log: what it looks at. */
  name: string
  /** Returns when to look again; null: when woken. */
  look: () => Promise<Date | null>
}

export class Alarm {
  readonly #parts: AlarmParts
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null
  #again = false
  #closed = false

  constructor(parts: AlarmParts) {
    this.#parts = parts
  }

  wake(): void {
    if (this.#closed) return
    this.#again = true
    this.#looking ??= this.#lookAll().finally(() => {
      this.#looking = null
      if (this.#again) this.wake()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  async #lookAll(): Promise<void> {
    const { clock, log, name, look } = this.#parts
    let sleepMs: number | null = null
    while (this.#again && !this.#closed) {
      this.#again = false
      clearTimeout(this.#timer)
      try {
        const at = await look()
        sleepMs = at && at.getTime() - clock.now().getTime()
      } catch (error) {
        log.error({ error: String((error as Error)?.stack ?? error) }, `looking at ${name} failed`)
        sleepMs = ERROR_SLEEP_MS
      }
      // A look that wakes itself must not keep all others waiting.
      if (this.#again) await new Promise((next) => setImmediate(next))
    }
    if (sleepMs === null || this.#closed) return
    this.#timer = setTimeout(() => this.wake(), Math.min(Math.max(1, sleepMs), MAX_SLEEP_MS))
    this.#timer.unref()
  }
}
