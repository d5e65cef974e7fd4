/**
 * Cron expressions of five fields, in a time zone.
 *
 * croner matches the patterns. Changes of daylight saving time are handled here, because croner then goes back in time
 * (10.0.1: for the next match after the second 02:15 it returns the first 02:30). The rules are those of cron on Debian
 * and Red Hat:
 *   - A pattern with specific hours fires once for each time that it names. Times in the hour that is skipped in spring
 *     fire together at the moment of the change; times in the hour that is repeated in autumn fire the first time only.
 *   - A pattern for every hour (`*`) follows elapsed time: skipped times do not fire, repeated times fire twice.
 */
import { Cron, CronPattern } from 'croner'
import { offsetsOf } from './time-zone.ts'

export type ParsedCron = { ok: true; cron: string } | { ok: false; problem: string; hint: string }

const FIELDS = [
  ['minute', '0-59'],
  ['hour', '0-23'],
  ['day of the month', '1-31'],
  ['month', '1-12 or JAN-DEC'],
  ['day of the week', '0-7 or SUN-SAT'],
] as const

const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
])

/** Checks the syntax. A valid expression may still never match: February 30. */
export function parseCron(text: string): ParsedCron {
  const cron = text.trim().replaceAll(/\s+/g, ' ')
  const shown = JSON.stringify(cron)
  if (cron.startsWith('@')) {
    const known = [...NICKNAMES.keys()].join(', ')
    return NICKNAMES.has(cron.toLowerCase())
      ? { ok: true, cron: cron.toLowerCase() }
      : {
          ok: false,
          problem: `${shown} is not a known expression`,
          hint: `use one of ${known}, or five fields`,
        }
  }
  const fields = cron === '' ? [] : cron.split(' ')
  if (fields.length !== FIELDS.length) {
    return {
      ok: false,
      problem: `${shown} has ${fields.length} field${fields.length === 1 ? '' : 's'} instead of five`,
      hint: `write ${FIELDS.map(([name]) => name).join(', ')}, such as "0 7 * * 1-5"${fields.length === 6 ? '; seconds are not supported' : ''}`,
    }
  }
  for (const [index, [name, range]] of FIELDS.entries()) {
    const field = fields[index] ?? ''
    if (fieldIsReadable(index, field)) continue
    return {
      ok: false,
      problem: `${shown} has ${JSON.stringify(field)} in field ${index + 1}, the ${name}`,
      hint: `use ${range}, *, or lists (1,3), ranges (1-5) and steps (*/5, 0-20/5) of them`,
    }
  }
  return { ok: true, cron }
}

/** Checks one field with stars for all others, so that the wrong field is known without parsing croner's message. */
function fieldIsReadable(index: number, field: string): boolean {
  try {
    new CronPattern(FIELDS.map((_, other) => (other === index ? field : '*')).join(' '), undefined, {
      mode: '5-part',
    })
    return true
  } catch {
    return false
  }
}

/**
 * Returns a function that computes the next match after an instant; null: there is none. Expects a valid expression and
 * a known zone.
 */
export function cronTimes(cron: string, timeZone: string): (after: Date) => Date | null {
  const pattern = NICKNAMES.get(cron) ?? cron
  const matchAfter = matchesOf(pattern)
  const offsetAt = offsetsOf(timeZone)
  const everyHour = /^\S+ [*?] /.test(pattern)

  return (after) => {
    let from = after.getTime()
    // The instant whose offset is used: `from`, or the moment of a change, which may itself be a match.
    let start = from
    for (;;) {
      const offset = offsetAt(start)
      const match = matchAfter(from + offset)
      if (match === null) return null
      const at = match - offset
      const changedAt = firstChange(offsetAt, start, at)
      if (changedAt === null) {
        if (everyHour || !isRepeated(offsetAt, at)) return new Date(at)
        from = start = at
        continue
      }
      const skipped = offsetAt(changedAt) - offset
      if (!everyHour && at < changedAt + skipped) return new Date(changedAt)
      from = changedAt - 1
      start = changedAt
    }
  }
}

/** croner treats an offset of 0 as missing and then uses the zone of the machine, so another one is used. */
const FIXED_OFFSET_MINUTES = 60

/** Matches in local (wall clock) time, as milliseconds as if they were UTC. */
function matchesOf(pattern: string): (afterMs: number) => number | null {
  const cron = new Cron(pattern, { utcOffset: FIXED_OFFSET_MINUTES, mode: '5-part' })
  const offsetMs = FIXED_OFFSET_MINUTES * 60_000
  return (afterMs) => {
    const next = cron.nextRun(new Date(afterMs - offsetMs))
    return next && next.getTime() + offsetMs
  }
}

const DAY_MS = 86_400_000
/** No zone changes its offset and back within this time. */
const STEP_MS = 7 * DAY_MS

/** The first instant after `start`, up to `end`, at which the offset differs from that at `start`. */
function firstChange(offsetAt: (atMs: number) => number, start: number, end: number): number | null {
  const offset = offsetAt(start)
  for (let low = start; low < end; low += STEP_MS) {
    let high = Math.min(low + STEP_MS, end)
    if (offsetAt(high) === offset) continue
    let same = low
    while (high - same > 1) {
      const middle = Math.floor((same + high) / 2)
      if (offsetAt(middle) === offset) same = middle
      else high = middle
    }
    return high
  }
  return null
}

/** Whether `at` is in the repeated hour after the clocks were set back. */
function isRepeated(offsetAt: (atMs: number) => number, at: number): boolean {
  const setBack = offsetAt(at - DAY_MS) - offsetAt(at)
  return setBack > 0 && offsetAt(at - setBack) === offsetAt(at) + setBack
}
