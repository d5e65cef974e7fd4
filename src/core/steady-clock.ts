/**
 * The clock of the engine: a time of day that does not jump unannounced, and a count of the time in which this daemon
 * really watched. Both are derived from two readings of the machine: the time of day, which people and NTP may set, and
 * the time since boot, which only passes and goes on while the machine is suspended (CLOCK_BOOTTIME).
 *
 * Two things may happen between two readings:
 *   - a **jump**: the time of day advanced by another amount than the time since boot. Somebody set the clock. `now`
 *     goes on as if nothing had happened until whoever keeps the stored times has moved them (`follow`); only then does
 *     it show the new time of day. So nobody ever compares a stored time with a clock that it was not written for.
 *   - a **gap**: more time passed than the daemon leaves between two ticks. The machine was suspended, or the daemon
 *     was stopped (SIGSTOP, a debugger, a starved machine). Nobody watched: that time is not counted by `watchedMs`.
 *
 * What each duration is measured by, and what happens to it:
 *
 * | duration                                          | by          | clock set     | suspend, stop    | another daemon        |
 * |---------------------------------------------------|-------------|---------------|------------------|-----------------------|
 * | work of an attempt, time for a question's answer  | watchedMs   | no effect     | not counted      | counts on; what lies between is not counted |
 * | silence, hanging after the result, lingering      | watchedMs   | no effect     | not counted      | begins anew           |
 * | pauses of the kill ladder, timeouts of requests   | Node timers | no effect     | not counted      | begins anew           |
 * | deadline of a cycle, time for an approval         | now         | moves with it | moves by the gap | goes on without us    |
 * | `notBefore` of runs and notifications, intervals, | now         | moves with it | goes on          | goes on without us    |
 * |   follow-ups "in a while", cooldowns, limits and  |             |               |                  |                       |
 * |   outages, since when an unsettled run goes on    |             |               |                  |                       |
 * | cron, follow-ups at a time, ages of sessions,     | now         | stays: people | goes on          | goes on without us    |
 * |   how long things are kept                        |             | mean the time |                  |                       |
 *
 * "Moves with it": the stored time is shifted by the jump, so that what is left to wait stays what it was. A jump while
 * no daemon runs is found by the next one on the same boot, because the difference between the two clocks is stored.
 * After a restart of the machine there is nothing to compare with: the time of day is believed, but a wait is never
 * longer than it was meant to be in the first place. "Begins anew" and up to half a minute of what is counted may be
 * lost when the daemon is killed: agents are given more time than they should have, never less.
 */
import type { Clock } from './clock.ts'

/** The clock was set forward by `jumpMs` (negative: back); nobody watched for `missedMs`. */
export interface ClockChange {
  jumpMs: number
  missedMs: number
}

export const NO_CHANGE: ClockChange = { jumpMs: 0, missedMs: 0 }

/** How often the daemon reads its clock at least. */
export const TICK_MS = 1000
/** What the time between two readings counts at most: a late tick is no reason to think that nobody watched. */
const MAX_STEP_MS = 2 * TICK_MS
/** Less is taken for a correction by NTP, or for a busy machine. */
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

  /** The time of day. A jump shows only after it has been followed. */
  now(): Date {
    const wallMs = this.#raw.now().getTime()
    const shownMs = wallMs - this.#wallMs
    // Within a tick no jump can have happened that matters: the time since boot, which costs more, need not be read.
    const isNear = shownMs >= 0 && shownMs <= TICK_MS
    if (!isNear) this.#read()
    return new Date((isNear ? wallMs : this.#wallMs) - this.#change.jumpMs)
  }

  /** The time since boot: what passes, whatever is done to the time of day. Only differences mean anything. */
  monotonicMs(): number {
    return this.#raw.monotonicMs()
  }

  /** The time in which this daemon watched. Only differences mean anything. */
  watchedMs(): number {
    this.#read()
    return this.#watchedMs
  }

  /** What the stored times do not know of yet. */
  unfollowed(): ClockChange {
    this.#read()
    const { jumpMs, missedMs } = this.#change
    return { jumpMs, missedMs: missedMs < TOLERANCE_MS ? 0 : missedMs }
  }

  /** The stored times have been moved: from now on the change is what is normal. */
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

/** The jump that lies between two differences of time of day and time since boot; 0: nobody set the clock. */
export function jumpBetween(beforeMs: number, afterMs: number): number {
  const jumpMs = Math.round(afterMs - beforeMs)
  return Math.abs(jumpMs) < TOLERANCE_MS ? 0 : jumpMs
}
