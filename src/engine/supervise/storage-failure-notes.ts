import type { Clock } from '../../core/clock.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { Store } from '../../store/store.ts'
import type { DiskFull, DiskSpace } from '../base/disk-space.ts'
import type { Persist } from '../base/persist.ts'
import type { ProgressBus } from '../base/progress.ts'
import type { StorageFailure, StorageFailures } from '../base/storage-failures.ts'

export interface StorageNotesDeps {
  storageFailures: Pick<StorageFailures, 'current' | 'newest'>
  disk: Pick<DiskSpace, 'full' | 'newestFull'>
  store: Pick<Store, 'addEvents'>
  clock: Clock
  bus: Pick<ProgressBus, 'publish'>
  persist: Persist
}

/**
 * Tells a run of storage failures while its agent was working: adds a note after writes were refused, and a gap when the
 * disk was full, also if there is space again by now. An agent that could not print a line often prints no further one,
 * even when there is space again, so it has to be stopped unless its turn has ended.
 */
export class StorageFailureNotes {
  readonly #deps: StorageNotesDeps
  readonly #attempt: AttemptRecord
  #told: StorageFailure | null
  #toldFull: DiskFull | null

  constructor(deps: StorageNotesDeps, attempt: AttemptRecord) {
    this.#deps = deps
    this.#attempt = attempt
    this.#told = deps.storageFailures.current ? null : deps.storageFailures.newest
    this.#toldFull = deps.disk.full ? null : deps.disk.newestFull
  }

  /** Returns the reason to stop the agent if the disk was full. `offset` is how far its output has been read. */
  async findFull(offset: number): Promise<string | null> {
    const full = this.#deps.disk.newestFull
    if (full === null || full === this.#toldFull) return null
    this.#toldFull = full
    await this.addGap(offset)
    return full.message
  }

  /** Records that output after `offset` may be missing. */
  async addGap(offset: number): Promise<void> {
    const { store, clock, bus, persist } = this.#deps
    const gap = { type: 'gap' as const, from: offset, to: offset, reason: 'disk-full' as const }
    await persist(() => store.addEvents(this.#attempt, [gap], clock.now()))
    bus.publish(this.#attempt.runId)
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
