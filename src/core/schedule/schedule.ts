/**
 * Schedules: when something is due repeatedly, at intervals or by a cron expression.
 *
 * `dueAt` is the nominal time. An interval is counted from the last nominal time, not from the actual start, so the
 * schedule does not drift. `fireAt` is the actual time: `dueAt` plus random jitter, always before the next nominal
 * time.
 *
 * After a downtime over several firings, the planned one fires late, once, and the schedule continues with the first
 * nominal time in the future. The firings between them are counted as missed and left out.
 */
import { cronTimes, parseCron } from './cron.ts'
import { isTimeZone, machineTimeZone } from './time-zone.ts'

export type Schedule = { kind: 'every'; everyMs: number } | { kind: 'cron'; cron: string; timeZone: string }

export interface ScheduleInput {
  everyMs?: number | undefined
  cron?: string | undefined
  /** Default: the time zone of the machine. */
  timeZone?: string | undefined
  jitterMs?: number | undefined
}

/** `key` names the wrong setting. The hint says what would be accepted. */
export interface ScheduleProblem {
  key: keyof ScheduleInput
  problem: string
  hint?: string
}

/** A schedule of null: due only when it is triggered. */
export type ParsedSchedule = { ok: true; schedule: Schedule | null } | ({ ok: false } & ScheduleProblem)

const DAY_MS = 86_400_000
export const MIN_EVERY_MS = 10_000
export const LONGEST_MS = 366 * DAY_MS
const MAX_CRON_JITTER_MS = 3_600_000
/** A fixed date in a year without February 29, so that the same expressions are accepted at any time. */
const REFERENCE = new Date('2025-01-01T00:00:00Z')

export function parseSchedule({ everyMs, cron, timeZone, jitterMs = 0 }: ScheduleInput): ParsedSchedule {
  const refuse = (key: keyof ScheduleInput, problem: string, hint: string): ParsedSchedule => ({
    ok: false,
    key,
    problem,
    hint,
  })
  if (everyMs !== undefined && cron !== undefined) {
    return refuse('cron', 'cannot be combined with every', 'remove one of the two')
  }
  if (timeZone !== undefined && cron === undefined) {
    return refuse('timeZone', 'requires cron', 'remove it, or use cron instead of every')
  }
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    const problem = `${JSON.stringify(timeZone)} is not a known time zone`
    return refuse('timeZone', problem, 'write one such as Europe/Berlin or UTC')
  }
  if (!(jitterMs >= 0)) return refuse('jitterMs', 'is negative', 'must be 0 or more')
  if (everyMs !== undefined) {
    if (!Number.isInteger(everyMs) || everyMs < MIN_EVERY_MS || everyMs > LONGEST_MS) {
      return refuse('everyMs', 'is out of range', 'must be between 10s and 366d')
    }
    if (jitterMs >= everyMs) {
      return refuse('jitterMs', 'is too long', 'must be less than every')
    }
    return { ok: true, schedule: { kind: 'every', everyMs } }
  }
  if (cron === undefined) {
    return jitterMs > 0
      ? refuse('jitterMs', 'requires every or cron', 'remove it, or add one of them')
      : { ok: true, schedule: null }
  }
  const parsed = parseCron(cron)
  if (!parsed.ok) return { ...parsed, key: 'cron' }
  const schedule = { kind: 'cron', cron: parsed.cron, timeZone: timeZone ?? machineTimeZone() } as const
  const first = cronTimes(schedule.cron, schedule.timeZone)(REFERENCE)
  if (!first || first.getTime() - REFERENCE.getTime() > LONGEST_MS) {
    const when = first ? 'does not occur every year' : 'never occurs'
    return refuse('cron', `${JSON.stringify(parsed.cron)} ${when}`, 'choose a day that exists in every year')
  }
  if (jitterMs > MAX_CRON_JITTER_MS) return refuse('jitterMs', 'is too long', 'must be at most 1h with cron')
  return { ok: true, schedule }
}

/** The next nominal time, strictly after `after`. For an interval, `after` must be the last nominal time. */
export function nextAt(schedule: Schedule, after: Date): Date {
  return nominalTimes(schedule)(after)
}

export interface Due {
  dueAt: Date
  fireAt: Date
}

interface JitterInput {
  now: Date
  jitterMs: number
  /** In [0, 1). */
  random: number
}

/** The first firing of a new schedule. */
export function firstDue(schedule: Schedule, { now, jitterMs, random }: JitterInput): Due {
  const next = nominalTimes(schedule)
  return withJitter(next(now), next, jitterMs, random)
}

/** Missed firings of a cron expression are counted one by one, up to this number. */
export const MOST_MISSED = 1000

/**
 * The firing that follows the one that was due at `dueAt` and happens now. `missed` counts the firings that were due
 * since then and are left out. The result is always after `dueAt`, so nothing is due twice if the clock was set back.
 */
export function nextDue(
  schedule: Schedule,
  { dueAt, now, jitterMs, random }: JitterInput & { dueAt: Date },
): Due & { missed: number } {
  const next = nominalTimes(schedule)
  const passed = now > dueAt ? now : dueAt
  if (schedule.kind === 'every') {
    const missed = Math.floor((passed.getTime() - dueAt.getTime()) / schedule.everyMs)
    const last = new Date(dueAt.getTime() + missed * schedule.everyMs)
    return { ...withJitter(next(last), next, jitterMs, random), missed }
  }
  let missed = 0
  for (let at = next(dueAt); at <= passed && missed < MOST_MISSED; at = next(at)) missed++
  return { ...withJitter(next(passed), next, jitterMs, random), missed }
}

function withJitter(dueAt: Date, next: (after: Date) => Date, jitterMs: number, random: number): Due {
  const room = Math.min(jitterMs, next(dueAt).getTime() - dueAt.getTime())
  return { dueAt, fireAt: new Date(dueAt.getTime() + Math.floor(random * room)) }
}

function nominalTimes(schedule: Schedule): (after: Date) => Date {
  if (schedule.kind === 'every') return (after) => new Date(after.getTime() + schedule.everyMs)
  const times = cronTimes(schedule.cron, schedule.timeZone)
  return (after) => {
    const at = times(after)
    if (at) return at
    throw new Error(`${schedule.cron} never occurs; parseSchedule should have refused it`)
  }
}

/** "every 30 min", "0 7 * * 1-5 (Europe/Berlin)", "every 1 h, every 5 min while not healthy". */
export function describeSchedule(schedule: Schedule, everyWhileNotHealthyMs?: number): string {
  const regular =
    schedule.kind === 'cron'
      ? `${schedule.cron} (${schedule.timeZone})`
      : `every ${describeSpan(schedule.everyMs)}`
  if (everyWhileNotHealthyMs === undefined) return regular
  return `${regular}, every ${describeSpan(everyWhileNotHealthyMs)} while not healthy`
}

const UNITS = [
  [DAY_MS, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
] as const

/** The exact duration: "1 h 30 min". */
function describeSpan(ms: number): string {
  let rest = ms
  return UNITS.flatMap(([size, unit]) => {
    const count = Math.floor(rest / size)
    rest %= size
    return count > 0 ? [`${count} ${unit}`] : []
  }).join(' ')
}
