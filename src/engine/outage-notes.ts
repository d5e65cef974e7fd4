import type { AttemptRecord } from '../store/records.ts'
import type { Outage } from './outages.ts'
import type { EngineParts } from './parts.ts'
import { persist } from './persist.ts'

/** Tells a run whose agent was at work in an outage, once it is over, what that may have cost. */
export class OutageNotes {
  readonly #parts: EngineParts
  readonly #attempt: AttemptRecord
  #told: Outage | null

  constructor(parts: EngineParts, attempt: AttemptRecord) {
    this.#parts = parts
    this.#attempt = attempt
    this.#told = parts.outages.current ? null : parts.outages.newest
  }

  async look(): Promise<void> {
    const { outages, store, clock, bus } = this.#parts
    const { current, newest } = outages
    if (current || !newest || newest === this.#told) return
    this.#told = newest
    const text = `Nothing could be stored from ${newest.since.toISOString()} on (${newest.why}): what the agent printed meanwhile may be lost.`
    await persist(this.#parts, () => store.addEvents(this.#attempt, [{ type: 'note', text }], clock.now()))
    bus.publish(this.#attempt.runId)
  }
}
