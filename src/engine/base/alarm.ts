/**
 * Calls `look` when woken, and again at the time that `look` returns. Only one look runs at a time; a wake during a
 * look causes another one. All facts are in the store, so a lost wake causes a delay and nothing else.
 */
import type { Clock } from '../../core/clock.ts'
import type { Log } from './log.ts'

/** Sleeps are short because the wall clock may be changed meanwhile. */
const MAX_SLEEP_MS = 30_000
const ERROR_SLEEP_MS = 1000

export interface AlarmParts {
  clock: Clock
  log: Log
  /** Names the alarm in log lines. */
  name: string
  /** Returns when to look again; null means only when woken. */
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
      // A look that wakes itself must not block the event loop.
      if (this.#again) await new Promise((next) => setImmediate(next))
    }
    if (sleepMs === null || this.#closed) return
    this.#timer = setTimeout(() => this.wake(), Math.min(Math.max(1, sleepMs), MAX_SLEEP_MS))
    this.#timer.unref()
  }
}
