/** The machine's time, which a test can advance. */
import type { Clock } from '../../../src/core/clock.ts'

export class SkippingClock implements Clock {
  #skippedMs = 0

  now = () => new Date(Date.now() + this.#skippedMs)
  monotonicMs = () => performance.now() + this.#skippedMs

  advance(ms: number): void {
    this.#skippedMs += ms
  }
}
