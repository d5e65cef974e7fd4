/**
 * Decides when queued runs start: as many as the limit allows, in the order the store offers them. It keeps no state
 * of its own that matters: a wake only makes it look sooner, and what it looks at is in the store.
 */
import type { Clock } from '../core/clock.ts'

export interface DispatcherParts<Run extends { id: string }> {
  clock: Clock
  concurrency: number
  listStartable: (now: Date, limit: number) => Promise<Run[]>
  nextDueAt: () => Promise<Date | null>
  /** Resolves when the run no longer needs its place. Never rejects. */
  start: (run: Run) => Promise<void>
  onError: (error: unknown) => void
}

const MAX_SLEEP_MS = 60_000
const ERROR_SLEEP_MS = 1000

export class Dispatcher<Run extends { id: string }> {
  readonly #parts: DispatcherParts<Run>
  readonly #active = new Map<string, Promise<void>>()
  readonly #parked = new Set<string>()
  #looking: Promise<void> | null = null
  #again = false
  #stopped = true
  #timer: NodeJS.Timeout | undefined

  constructor(parts: DispatcherParts<Run>) {
    this.#parts = parts
  }

  open(): void {
    this.#stopped = false
    this.wake()
  }

  /** Starts nothing more. What runs goes on. */
  async close(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  /** Counts a run that was started elsewhere (a recovered one) against the limit. */
  adopt(runId: string, done: Promise<void>): void {
    this.#active.set(runId, done)
    void done.finally(() => {
      this.#active.delete(runId)
      this.#parked.delete(runId)
      this.wake()
    })
  }

  /** A run that only waits for a person gives up its place meanwhile. */
  park(runId: string, waiting: boolean): void {
    if (waiting) this.#parked.add(runId)
    else this.#parked.delete(runId)
    this.wake()
  }

  get #taken(): number {
    return [...this.#active.keys()].filter((id) => !this.#parked.has(id)).length
  }

  wake(): void {
    if (this.#stopped) return
    if (this.#looking) {
      this.#again = true
      return
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = null
      if (this.#again) {
        this.#again = false
        this.wake()
      }
    })
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer)
    const { clock, concurrency } = this.#parts
    try {
      const free = concurrency - this.#taken
      const runs = free > 0 ? await this.#parts.listStartable(clock.now(), free + this.#active.size) : []
      for (const run of runs) {
        if (this.#stopped || this.#taken >= concurrency) break
        if (!this.#active.has(run.id)) this.adopt(run.id, this.#parts.start(run))
      }
      const dueAt = await this.#parts.nextDueAt()
      const sleepMs = dueAt ? Math.max(0, dueAt.getTime() - clock.now().getTime()) : MAX_SLEEP_MS
      if (free > 0) this.#sleep(sleepMs)
    } catch (error) {
      this.#parts.onError(error)
      this.#sleep(ERROR_SLEEP_MS)
    }
  }

  #sleep(ms: number): void {
    if (this.#stopped) return
    // A run that is due but could not start yet must not make this a busy loop.
    this.#timer = setTimeout(() => this.wake(), Math.min(Math.max(ms, 50), MAX_SLEEP_MS))
    this.#timer.unref()
  }
}
