/**
 * When something is due again and again: at intervals, or by a cron expression.
 *
 * `dueAt` is the nominal time. It never moves: an interval is counted from the last nominal time, not from when the
 * firing really began, so nothing drifts. `fireAt` is when it is really to be done: `dueAt` and some chance (jitter),
 * always before the next nominal time.
 *
 * Whoever was down over several firings catches up once: it fires the one it has planned, late, and goes on with the
 * first nominal time that is still to come. The others are counted and left out.
 */
import { cronTimes, parseCron } from './cron.ts'
import { isTimeZone, machineTimeZone } from './time-zone.ts'

export type Schedule = { kind: 'every'; everyMs: number } | { kind: 'cron'; cron: string; timeZone: string }

export interface ScheduleWords {
  everyMs?: number | undefined
  cron?: string | undefined
  /** Without it: that of the machine. */
  timeZone?: string | undefined
  jitterMs?: number | undefined
}

/** `key` is what is wrong. The hint says what would be accepted. */
export interface ScheduleProblem {
  key: keyof ScheduleWords
  problem: string
  hint?: string
}

/** Without a schedule (null) it is due only when somebody says so. */
export type ParsedSchedule = { ok: true; schedule: Schedule | null } | ({ ok: false } & ScheduleProblem)

const DAY_MS = 86_400_000
const MIN_EVERY_MS = 10_000
const LONGEST_MS = 366 * DAY_MS
const MAX_CRON_JITTER_MS = 3_600_000
/** Early in a common year, so that an expression is accepted or refused whenever it is read. */
const REFERENCE = new Date('2025-01-01T00:00:00Z')

export function parseSchedule({ everyMs, cron, timeZone, jitterMs = 0 }: ScheduleWords): ParsedSchedule {
  const refuse = (key: keyof ScheduleWords, problem: string, hint: string): ParsedSchedule => ({
    ok: false,
    key,
    problem,
    hint,
  })
  if (everyMs !== undefined && cron !== undefined) {
    return refuse('cron', 'is given together with every', 'leave out one of the two')
  }
  if (timeZone !== undefined && cron === undefined) {
    return refuse('timeZone', 'has a meaning only with cron', 'leave it out, or use cron instead of every')
  }
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    const problem = `${JSON.stringify(timeZone)} is not a known time zone`
    return refuse('timeZone', problem, 'write one such as Europe/Berlin or UTC')
  }
  if (!(jitterMs >= 0)) return refuse('jitterMs', 'is negative', 'write 0 or more')
  if (everyMs !== undefined) {
    if (!Number.isInteger(everyMs) || everyMs < MIN_EVERY_MS || everyMs > LONGEST_MS) {
      return refuse('everyMs', 'is not an interval that can be kept', 'write one from 10s to 366d')
    }
    if (jitterMs >= everyMs) {
      return refuse('jitterMs', 'is as long as the interval, or longer', 'it must be less than every')
    }
    return { ok: true, schedule: { kind: 'every', everyMs } }
  }
  if (cron === undefined) {
    return jitterMs > 0
      ? refuse('jitterMs', 'has a meaning only with every or cron', 'leave it out, or give one of them')
      : { ok: true, schedule: null }
  }
  const parsed = parseCron(cron)
  if (!parsed.ok) return { ...parsed, key: 'cron' }
  const schedule = { kind: 'cron', cron: parsed.cron, timeZone: timeZone ?? machineTimeZone() } as const
  const first = cronTimes(schedule.cron, schedule.timeZone)(REFERENCE)
  if (!first || first.getTime() - REFERENCE.getTime() > LONGEST_MS) {
    const when = first ? 'does not come every year' : 'never comes'
    return refuse('cron', `${JSON.stringify(parsed.cron)} ${when}`, 'name a day that every year has')
  }
  if (jitterMs > MAX_CRON_JITTER_MS) return refuse('jitterMs', 'is too long', 'with cron it is at most 1h')
  return { ok: true, schedule }
}

/** Strictly after. Of an interval, `after` is the nominal time before. */
export function nextAt(schedule: Schedule, after: Date): Date {
  return nominalTimes(schedule)(after)
}

export interface Due {
  dueAt: Date
  fireAt: Date
}

interface Chance {
  now: Date
  jitterMs: number
  /** In [0, 1). */
  random: number
}

/** Of something that has just been set up. */
export function firstDue(schedule: Schedule, { now, jitterMs, random }: Chance): Due {
  const next = nominalTimes(schedule)
  return withJitter(next(now), next, jitterMs, random)
}

/** Of a cron expression, missed ones are looked up one by one, and not beyond this. */
export const MOST_MISSED = 1000

/**
 * What follows the firing that was due at `dueAt` and happens now. `missed` are the firings that were due since then
 * and are left out. A clock that was set back does not make anything due twice: the next time is after `dueAt` too.
 */
export function nextDue(
  schedule: Schedule,
  { dueAt, now, jitterMs, random }: Chance & { dueAt: Date },
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
    throw new Error(`${schedule.cron} never comes; parseSchedule refuses that`)
  }
}

/** "every 30 min", "0 7 * * 1-5 (Europe/Berlin)". */
export function describeSchedule(schedule: Schedule): string {
  return schedule.kind === 'cron'
    ? `${schedule.cron} (${schedule.timeZone})`
    : `every ${describeSpan(schedule.everyMs)}`
}

const UNITS = [
  [DAY_MS, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
] as const

/** Exact: "1 h 30 min". */
function describeSpan(ms: number): string {
  let rest = ms
  return UNITS.flatMap(([size, unit]) => {
    const count = Math.floor(rest / size)
    rest %= size
    return count > 0 ? [`${count} ${unit}`] : []
  }).join(' ')
}
