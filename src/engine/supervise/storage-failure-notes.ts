import type { Clock } from '../../core/clock.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { Store } from '../../store/store.ts'
import type { Persist } from '../base/persist.ts'
import type { ProgressBus } from '../base/progress.ts'
import type { StorageFailure, StorageFailures } from '../base/storage-failures.ts'

export interface StorageNotesDeps {
  storageFailures: Pick<StorageFailures, 'current' | 'newest'>
  store: Pick<Store, 'addEvents'>
  clock: Clock
  bus: Pick<ProgressBus, 'publish'>
  persist: Persist
}

/** Adds a note to a run whose agent was working during a storage failure, after the failure has ended. */
export class StorageFailureNotes {
  readonly #deps: StorageNotesDeps
  readonly #attempt: AttemptRecord
  #told: StorageFailure | null

  constructor(deps: StorageNotesDeps, attempt: AttemptRecord) {
    this.#deps = deps
    this.#attempt = attempt
    this.#told = deps.storageFailures.current ? null : deps.storageFailures.newest
  }

  async look(): Promise<void> {
    const { storageFailures, store, clock, bus, persist } = this.#deps
    const { current, newest } = storageFailures
    if (current || !newest || newest === this.#told) return
    this.#told = newest
    const text = `Nothing could be stored from ${newest.since.toISOString()} on (${newest.why}): the agent's output from that time may be lost.`
    await persist(() => store.addEvents(this.#attempt, [{ type: 'note', text }], clock.now()))
    bus.publish(this.#attempt.runId)
  }
}
