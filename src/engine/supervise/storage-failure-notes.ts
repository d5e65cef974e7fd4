import type { AttemptRecord } from '../../store/base/records.ts'
import { persist } from '../base/persist.ts'
import type { StorageFailure } from '../base/storage-failures.ts'
import type { EngineParts } from '../parts.ts'

/** Tells a run whose agent was at work while nothing could be stored, once it is over, what that may have cost. */
export class StorageFailureNotes {
  readonly #parts: EngineParts
  readonly #attempt: AttemptRecord
  #told: StorageFailure | null

  constructor(parts: EngineParts, attempt: AttemptRecord) {
    this.#parts = parts
    this.#attempt = attempt
    this.#told = parts.storageFailures.current ? null : parts.storageFailures.newest
  }

  async look(): Promise<void> {
    const { storageFailures, store, clock, bus } = this.#parts
    const { current, newest } = storageFailures
    if (current || !newest || newest === this.#told) return
    this.#told = newest
    const text = `Nothing could be stored from ${newest.since.toISOString()} on (${newest.why}): what the agent printed meanwhile may be lost.`
    await persist(this.#parts, () => store.addEvents(this.#attempt, [{ type: 'note', text }], clock.now()))
    bus.publish(this.#attempt.runId)
  }
}
