/**
 * The clock of the engine: a time of day without unannounced jumps, and the time for which this daemon has really
 * watched its agents. Both are derived from two clocks of the machine: the time of day, which people and NTP may set,
 * and the time since boot, which is never set and continues while the machine is suspended (CLOCK_BOOTTIME).
 *
 * Two things may happen between two readings:
 *   - a **jump**: the time of day advanced by another amount than the time since boot, because somebody set the clock.
 *     `now` ignores the jump until the stored times have been shifted and `follow` was called; only then does it return
 *     the new time of day. So a stored time is never compared with a clock that it was not written for.
 *   - a **gap**: more time passed than the daemon leaves between two ticks. The machine was suspended, or the daemon
 *     was stopped (SIGSTOP, a debugger, a machine without free CPU). `watchedMs` does not count that time.
 *
 * How each duration is measured:
 *
 * | duration                                          | measured by | clock set     | suspend, stop      | restart of the daemon               |
 * |---------------------------------------------------|-------------|---------------|--------------------|-------------------------------------|
 * | work of an attempt, time for a question's answer  | watchedMs   | no effect     | not counted        | continues; the downtime is not counted |
 * | silence, hanging after the result, lingering      | watchedMs   | no effect     | not counted        | starts again at 0                   |
 * | pauses between kill signals, request timeouts     | Node timers | no effect     | not counted        | starts again at 0                   |
 * | deadline of a cycle, time for an approval         | now         | shifted       | shifted by the gap | the downtime is counted             |
 * | `notBefore` of runs and notifications, intervals, | now         | shifted       | counted            | the downtime is counted             |
 * |   follow-ups after a delay, cooldowns, limits and |             |               |                    |                                     |
 * |   outages, start times of unsettled runs          |             |               |                    |                                     |
 * | cron, follow-ups at a time, ages of sessions,     | now         | not shifted   | counted            | the downtime is counted             |
 * |   retention times                                 |             |               |                    |                                     |
 *
 * "Shifted": the stored time is moved by the jump, so that the remaining wait stays the same. Times that people named
 * are not shifted. A jump while no daemon runs is found by the next daemon on the same boot, because the difference
 * between the two clocks is stored. After a restart of the machine there is nothing to compare with: the time of day is
 * trusted, but a wait never becomes longer than it was at first. When the daemon is killed, up to half a minute of
 * counted time may be lost: agents then get more time than configured, never less.
 */
import type { Clock } from './clock.ts'

/** The clock was set forward by `jumpMs` (negative: back); the daemon did not watch for `missedMs`. */
export interface ClockChange {
  jumpMs: number
  missedMs: number
}

export const NO_CHANGE: ClockChange = { jumpMs: 0, missedMs: 0 }

/** The daemon reads its clock at least this often. */
export const TICK_MS = 1000
/** The time between two readings counts up to this amount, so that a late tick is not taken for a gap. */
const MAX_STEP_MS = 2 * TICK_MS
/** Smaller differences are corrections by NTP, or due to a busy machine, and are ignored. */
const TOLERANCE_MS = 5000

export class SteadyClock implements Clock {
  readonly #raw: Clock
  readonly #maxStepMs: number
  #wallMs: number
  #passedMs: number
  #watchedMs = 0
  #change = NO_CHANGE

  constructor(raw: Clock, { maxStepMs = MAX_STEP_MS } = {}) {
    this.#raw = raw
    this.#maxStepMs = maxStepMs
    this.#wallMs = raw.now().getTime()
    this.#passedMs = raw.monotonicMs()
  }

  /** The time of day. A jump is included only after `follow`. */
  now(): Date {
    const wallMs = this.#raw.now().getTime()
    const shownMs = wallMs - this.#wallMs
    // A jump of less than a tick does not matter, so the time since boot, which is slower to read, is not needed.
    const isNear = shownMs >= 0 && shownMs <= TICK_MS
    if (!isNear) this.#read()
    return new Date((isNear ? wallMs : this.#wallMs) - this.#change.jumpMs)
  }

  /** The time since boot, which does not change when the time of day is set. Only differences are meaningful. */
  monotonicMs(): number {
    return this.#raw.monotonicMs()
  }

  /** For how long this daemon has watched. Only differences are meaningful. */
  watchedMs(): number {
    this.#read()
    return this.#watchedMs
  }

  /** The change for which the stored times have not been shifted yet. */
  unfollowed(): ClockChange {
    this.#read()
    const { jumpMs, missedMs } = this.#change
    return { jumpMs, missedMs: missedMs < TOLERANCE_MS ? 0 : missedMs }
  }

  /** Must be called after the stored times were shifted: from now on `now` includes the jump. */
  follow({ jumpMs, missedMs }: ClockChange): void {
    this.#change = {
      jumpMs: this.#change.jumpMs - jumpMs,
      missedMs: this.#change.missedMs - missedMs,
    }
  }

  #read(): void {
    const wallMs = this.#raw.now().getTime()
    const passedMs = this.#raw.monotonicMs()
    const stepMs = Math.max(0, passedMs - this.#passedMs)
    const missedMs = Math.max(0, stepMs - this.#maxStepMs)
    const jumpMs = jumpBetween(this.#wallMs - this.#passedMs, wallMs - passedMs)
    this.#watchedMs += stepMs - missedMs
    this.#change = { jumpMs: this.#change.jumpMs + jumpMs, missedMs: this.#change.missedMs + missedMs }
    this.#wallMs = wallMs
    this.#passedMs = passedMs
  }
}

/** Computes the jump from two differences between time of day and time since boot; 0: the clock was not set. */
export function jumpBetween(beforeMs: number, afterMs: number): number {
  const jumpMs = Math.round(afterMs - beforeMs)
  return Math.abs(jumpMs) < TOLERANCE_MS ? 0 : jumpMs
}
