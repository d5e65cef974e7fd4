/**
 * Periods in which the disk refuses writes: a required write fails, or there is no room for the output of agents. That
 * output would be lost unnoticed, because a reader only sees that nothing arrives. Kept in memory, not in the store.
 */
import type { Clock } from '../../core/clock.ts'

export interface StorageFailure {
  since: Date
  why: string
}

export class StorageFailures {
  readonly #clock: Clock
  readonly #hasRoom: () => boolean
  #refused = 0
  #current: StorageFailure | null = null
  #newest: StorageFailure | null = null

  constructor(clock: Clock, hasRoom: () => boolean) {
    this.#clock = clock
    this.#hasRoom = hasRoom
  }

  /** A write failed and is retried until `end` is called. */
  begin(why: string): void {
    this.#endIfOver()
    this.#refused++
    this.#open(why)
  }

  end(): void {
    this.#refused--
  }

  get current(): StorageFailure | null {
    if (!this.#hasRoom()) this.#open('the disk is full')
    this.#endIfOver()
    return this.#current
  }

  /** The current failure, or else the most recent one. */
  get newest(): StorageFailure | null {
    return this.current ?? this.#newest
  }

  #open(why: string): void {
    this.#current ??= { since: this.#clock.now(), why }
    this.#newest = this.#current
  }

  #endIfOver(): void {
    if (this.#refused === 0 && this.#hasRoom()) this.#current = null
  }
}
