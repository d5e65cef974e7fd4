/**
 * Starts queued runs: as many as the limits allow (in total, per agent, per place), in the order in which the store
 * lists them. The queue is in the store; a wake only makes the dispatcher look sooner.
 */
import type { Clock } from '../core/clock.ts'

export interface Startable {
  id: string
  agent: string
  /** The place that at most `perPlace` runs use at the same time; null if there is no such limit. */
  place: string | null
}

export interface Limits {
  concurrency: number
  /** Concurrency limits of single agents, by agent name. */
  perAgent: Readonly<Record<string, number>>
  perPlace: number
}

/** The agents and places that have reached their limit. */
export interface Busy {
  agents: string[]
  places: string[]
}

export interface DispatcherParts<Run extends Startable> {
  clock: Clock
  limits: Limits
  /** Returns runs in the order in which they should be started. */
  listStartable: (now: Date, limit: number, busy: Busy) => Promise<Run[]>
  /** When the next run becomes due that is not due yet. */
  nextDueAt: (now: Date) => Promise<Date | null>
  /** Resolves when the run no longer needs its place. Never rejects. */
  start: (run: Run) => Promise<void>
  onError: (error: unknown) => void
}

const MAX_SLEEP_MS = 60_000
const ERROR_SLEEP_MS = 1000

export class Dispatcher<Run extends Startable> {
  readonly #parts: DispatcherParts<Run>
  readonly #active = new Map<string, Startable>()
  readonly #parked = new Set<string>()
  #looking: Promise<void> | null = null
  #again = false
  #stopped = true
  #timer: NodeJS.Timeout | undefined
  #occupied = 0

  constructor(parts: DispatcherParts<Run>) {
    this.#parts = parts
  }

  open(): void {
    this.#stopped = false
    this.wake()
  }

  /** Starts no more runs. Running ones continue. */
  async close(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  /** Counts a run against the limits that was started elsewhere, such as an adopted one. */
  adopt(run: Startable, done: Promise<void>): void {
    this.#active.set(run.id, run)
    void done.finally(() => {
      this.#active.delete(run.id)
      this.#parked.delete(run.id)
      this.wake()
    })
  }

  /**
   * A run that only waits for a person does not count against the concurrency limits, but it still occupies its place.
   */
  park(runId: string, waiting: boolean): void {
    if (waiting) this.#parked.add(runId)
    else this.#parked.delete(runId)
    this.wake()
  }

  /**
   * Executes `work` while no run uses the place. It does not count against the concurrency limits. Returns null if a
   * run is using the place.
   */
  occupy<T>(place: string, work: () => Promise<T>): Promise<T> | null {
    if ([...this.#active.values()].some((run) => run.place === place)) return null
    const id = `${place} (${++this.#occupied})`
    const done = work()
    this.#parked.add(id)
    this.adopt({ id, agent: '', place }, done.then(ignore, ignore))
    return done
  }

  get #working(): Startable[] {
    return [...this.#active.values()].filter(({ id }) => !this.#parked.has(id))
  }

  /** The agents and places that have reached their limit. */
  #busy(): Busy {
    const { perAgent, perPlace } = this.#parts.limits
    const agents = countBy(this.#working, ({ agent }) => agent)
    const places = countBy([...this.#active.values()], ({ place }) => place)
    return {
      agents: [...agents].flatMap(([agent, n]) =>
        Object.hasOwn(perAgent, agent) && n >= (perAgent[agent] ?? Number.POSITIVE_INFINITY) ? [agent] : [],
      ),
      places: [...places].flatMap(([place, n]) => (n >= perPlace ? [place] : [])),
    }
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
    const { clock, limits, listStartable } = this.#parts
    try {
      const free = limits.concurrency - this.#working.length
      let busy = this.#busy()
      const now = clock.now()
      const runs = free > 0 ? await listStartable(now, free + this.#active.size, busy) : []
      for (const run of runs) {
        if (this.#stopped || this.#working.length >= limits.concurrency) break
        if (this.#active.has(run.id)) continue
        // Runs that were started in this loop may have used up the limit of this agent or place. Look again, because
        // the store may have further runs for other agents or places.
        if (busy.agents.includes(run.agent) || (run.place !== null && busy.places.includes(run.place))) {
          this.#again = true
          continue
        }
        this.adopt(run, this.#parts.start(run))
        busy = this.#busy()
      }
      const dueAt = await this.#parts.nextDueAt(now)
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

const ignore = () => {}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string | null): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) {
    const key = keyOf(item)
    if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
