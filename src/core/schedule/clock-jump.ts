/**
 * Whether somebody set the clock. The time of day may be changed under a running program; the monotonic clock, which
 * only counts what passes, may not. If the two have not advanced alike, the difference is the jump.
 *
 * What follows from a jump:
 *   - What was asked for after a while ("in 10 minutes", intervals, how long a cycle may take) is meant as time that
 *     passes. Its due time moves by the jump, so that what is left to wait stays the same.
 *   - What was asked for by the time of day (cron, a certain time) stays. If the clock was set forward past it, it is
 *     due now, once (`nextDue` leaves the others out); if the clock was set back, its next time is computed anew.
 *
 * On Linux the monotonic clock stands still while the machine sleeps, so waking up looks like a jump forward.
 */
export interface ClockReading {
  wall: Date
  monotonicMs: number
}

/** Less is taken for a correction by NTP, or for the time between the two readings. */
const TOLERANCE_MS = 5000

/** By how much the clock was set forward between the two readings; negative: back; 0: it was not. */
export function jumpOf(previous: ClockReading, now: ClockReading): number {
  const shown = now.wall.getTime() - previous.wall.getTime()
  const passed = now.monotonicMs - previous.monotonicMs
  const jump = Math.round(shown - passed)
  return Math.abs(jump) < TOLERANCE_MS ? 0 : jump
}
