/** Calendar days in a time zone, which have 23, 24 or 25 hours. */
import { offsetsOf } from './time-zone.ts'

const DAY_MS = 86_400_000

/** The start of the day that contains `now`, and the start of the next one. */
export function dayOf(now: Date, timeZone: string): { startedAt: Date; endsAt: Date } {
  const startedAt = midnightBefore(now.getTime(), timeZone)
  // An instant in the middle of the next day, however long this one is.
  const endsAt = midnightBefore(startedAt + 1.5 * DAY_MS, timeZone)
  return { startedAt: new Date(startedAt), endsAt: new Date(endsAt) }
}

function midnightBefore(atMs: number, timeZone: string): number {
  const offsetAt = offsetsOf(timeZone)
  const local = atMs + offsetAt(atMs)
  const midnight = local - (((local % DAY_MS) + DAY_MS) % DAY_MS)
  // The offset at midnight may differ from the present one.
  const guess = midnight - offsetAt(atMs)
  return midnight - offsetAt(guess)
}
