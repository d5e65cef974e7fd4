/** Days as people in a time zone have them: 23, 24 or 25 hours. */
import { offsetsOf } from './time-zone.ts'

const DAY_MS = 86_400_000

/** When the day began that it is then, and when the next one begins. */
export function dayOf(now: Date, timeZone: string): { startedAt: Date; endsAt: Date } {
  const startedAt = midnightBefore(now.getTime(), timeZone)
  // In the middle of the next day, however long this one is.
  const endsAt = midnightBefore(startedAt + 1.5 * DAY_MS, timeZone)
  return { startedAt: new Date(startedAt), endsAt: new Date(endsAt) }
}

function midnightBefore(atMs: number, timeZone: string): number {
  const offsetAt = offsetsOf(timeZone)
  const local = atMs + offsetAt(atMs)
  const midnight = local - (((local % DAY_MS) + DAY_MS) % DAY_MS)
  // The clocks may have been changed since.
  const guess = midnight - offsetAt(atMs)
  return midnight - offsetAt(guess)
}
