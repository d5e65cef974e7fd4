import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  describeSchedule,
  firstDue,
  MOST_MISSED,
  nextAt,
  nextDue,
  parseSchedule,
  type Schedule,
  type ScheduleInput,
} from '../../../src/core/schedule/schedule.ts'
import { checkProperty } from '../random.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const at = (text: string) => new Date(text)

const halfHourly: Schedule = { kind: 'every', everyMs: 30 * MINUTE }
const mornings: Schedule = { kind: 'cron', cron: '0 7 * * 1-5', timeZone: 'Europe/Berlin' }
const eachMinute: Schedule = { kind: 'cron', cron: '* * * * *', timeZone: 'UTC' }

describe('what a schedule may be', () => {
  test.each<[ScheduleInput, Schedule | null]>([
    [{}, null],
    [{ jitterMs: 0 }, null],
    [{ everyMs: 10_000 }, { kind: 'every', everyMs: 10_000 }],
    [
      { everyMs: 366 * DAY, jitterMs: HOUR },
      { kind: 'every', everyMs: 366 * DAY },
    ],
    [{ cron: ' 0 7  * * 1-5', timeZone: 'Europe/Berlin', jitterMs: HOUR }, mornings],
    [
      { cron: '@weekly', timeZone: 'UTC' },
      { kind: 'cron', cron: '@weekly', timeZone: 'UTC' },
    ],
    [
      { cron: '0 0 31 12 *', timeZone: 'UTC' },
      { kind: 'cron', cron: '0 0 31 12 *', timeZone: 'UTC' },
    ],
  ])('%j', (words, schedule) => expect(parseSchedule(words)).toEqual({ ok: true, schedule }))

  test('without a zone, cron goes by that of the machine', () => {
    expect(parseSchedule({ cron: '@daily' })).toMatchObject({
      schedule: { timeZone: expect.stringMatching(/^[A-Z]/) },
    })
  })

  test.each<[ScheduleInput, string, string, string]>([
    [{ everyMs: HOUR, cron: '@daily' }, 'cron', 'cannot be combined with every', 'remove one of the two'],
    [{ everyMs: HOUR, timeZone: 'UTC' }, 'timeZone', 'requires cron', 'remove it'],
    [{ timeZone: 'UTC' }, 'timeZone', 'requires cron', 'remove it'],
    [{ cron: '@daily', timeZone: 'Mars/X' }, 'timeZone', '"Mars/X" is not a known', 'Europe/Berlin'],
    [{ cron: '@daily', timeZone: '' }, 'timeZone', '"" is not a known', 'Europe/Berlin'],
    [{ everyMs: 9999 }, 'everyMs', 'is out of range', 'between 10s and 366d'],
    [{ everyMs: 366 * DAY + 1 }, 'everyMs', 'is out of range', 'between 10s and 366d'],
    [{ everyMs: Number.NaN }, 'everyMs', 'is out of range', 'between 10s and 366d'],
    [{ everyMs: HOUR, jitterMs: HOUR }, 'jitterMs', 'is too long', 'less than every'],
    [{ everyMs: HOUR, jitterMs: -1 }, 'jitterMs', 'is negative', '0 or more'],
    [{ cron: '@daily', jitterMs: HOUR + 1 }, 'jitterMs', 'is too long', 'at most 1h with cron'],
    [{ jitterMs: 1 }, 'jitterMs', 'requires every or cron', 'remove it'],
    [{ cron: '* * * * * *' }, 'cron', 'has 6 fields instead of five', 'seconds are not supported'],
    [{ cron: '0 25 * * *' }, 'cron', 'has "25" in field 2, the hour', '0-23'],
    [{ cron: '0 0 30 2 *' }, 'cron', '"0 0 30 2 *" never occurs', 'a day that exists in every year'],
    [
      { cron: '0 0 29 2 *' },
      'cron',
      '"0 0 29 2 *" does not occur every year',
      'a day that exists in every year',
    ],
  ])('not %j', (words, key, problem, hint) => {
    expect(parseSchedule(words)).toEqual({
      ok: false,
      key,
      problem: expect.stringContaining(problem),
      hint: expect.stringContaining(hint),
    })
  })
})

test('in words', () => {
  expect(describeSchedule(halfHourly)).toBe('every 30 min')
  expect(describeSchedule({ kind: 'every', everyMs: 90 * MINUTE })).toBe('every 1 h 30 min')
  expect(describeSchedule({ kind: 'every', everyMs: 7 * DAY })).toBe('every 7 d')
  expect(describeSchedule({ kind: 'every', everyMs: 10_500 })).toBe('every 10 s 500 ms')
  expect(describeSchedule(mornings)).toBe('0 7 * * 1-5 (Europe/Berlin)')
})

test('the next time is strictly after', () => {
  expect(nextAt(halfHourly, at('2026-05-04T10:00:00Z'))).toEqual(at('2026-05-04T10:30:00Z'))
  expect(nextAt(mornings, at('2026-05-01T05:00:00Z'))).toEqual(at('2026-05-04T05:00:00Z'))
})

describe('the next firing', () => {
  const due = (schedule: Schedule, dueAt: string, now: string) =>
    nextDue(schedule, { dueAt: at(dueAt), now: at(now), jitterMs: 0, random: 0.9 })
  const on = (dueAt: string, missed: number) => ({ dueAt: at(dueAt), fireAt: at(dueAt), missed })

  test.each<[string, Schedule, string, string, string, number]>([
    ['in time', halfHourly, '2026-05-04T10:00:00Z', '2026-05-04T10:00:00.120Z', '2026-05-04T10:30:00Z', 0],
    ['late', halfHourly, '2026-05-04T10:00:00Z', '2026-05-04T10:29:59.999Z', '2026-05-04T10:30:00Z', 0],
    ['one missed', halfHourly, '2026-05-04T10:00:00Z', '2026-05-04T10:30:00Z', '2026-05-04T11:00:00Z', 1],
    ['down a day', halfHourly, '2026-05-04T10:00:00Z', '2026-05-05T10:10:00Z', '2026-05-05T10:30:00Z', 48],
    ['set back', halfHourly, '2026-05-04T10:00:00Z', '2026-05-04T08:00:00Z', '2026-05-04T10:30:00Z', 0],
    ['in time', mornings, '2026-05-01T05:00:00Z', '2026-05-01T05:00:01Z', '2026-05-04T05:00:00Z', 0],
    ['down a week', mornings, '2026-05-01T05:00:00Z', '2026-05-08T04:00:00Z', '2026-05-08T05:00:00Z', 4],
    ['to the moment', mornings, '2026-05-01T05:00:00Z', '2026-05-08T05:00:00Z', '2026-05-11T05:00:00Z', 5],
    ['set back', mornings, '2026-05-01T05:00:00Z', '2026-04-01T05:00:00Z', '2026-05-04T05:00:00Z', 0],
  ])('%s: %j', (_, schedule, dueAt, now, next, missed) => {
    expect(due(schedule, dueAt, now)).toEqual(on(next, missed))
  })

  test('matches that were missed are not counted without end', () => {
    expect(due(eachMinute, '2025-05-04T10:00:00Z', '2026-05-04T10:00:30Z')).toEqual(
      on('2026-05-04T10:01:00Z', MOST_MISSED),
    )
  })

  test('jitter delays the firing and does not change the nominal time', () => {
    const given = { now: at('2026-05-04T10:00:00Z'), jitterMs: 10 * MINUTE, random: 0.5 }
    expect(firstDue(halfHourly, given)).toEqual({
      dueAt: at('2026-05-04T10:30:00Z'),
      fireAt: at('2026-05-04T10:35:00Z'),
    })
    expect(
      nextDue(halfHourly, { ...given, dueAt: at('2026-05-04T10:00:00Z'), now: at('2026-05-04T10:09:59Z') }),
    ).toEqual({ dueAt: at('2026-05-04T10:30:00Z'), fireAt: at('2026-05-04T10:35:00Z'), missed: 0 })
  })

  test('with jitter it still fires before the next nominal time', () => {
    const given = { now: at('2026-05-04T10:00:00Z'), jitterMs: HOUR, random: 0.999_999 }
    expect(firstDue(eachMinute, given)).toEqual({
      dueAt: at('2026-05-04T10:01:00Z'),
      fireAt: at('2026-05-04T10:01:59.999Z'),
    })
  })
})

test('over any outages: one firing for each, nominal times only, nothing twice, nothing left uncounted', () => {
  const schedule = fc.oneof(
    fc.integer({ min: 10, max: 7200 }).map((s): Schedule => ({ kind: 'every', everyMs: s * 1000 })),
    fc
      .constantFrom('*/7 * * * *', '30 2 * * *', '0 */3 * * *', '15 1-3 * * 0')
      .map((cron): Schedule => ({ kind: 'cron', cron, timeZone: 'Europe/Berlin' })),
  )
  const outages = fc.array(fc.integer({ min: 0, max: 5 * HOUR }), { minLength: 1, maxLength: 20 })
  const start = fc.date({ min: at('2026-03-27'), max: at('2026-04-01'), noInvalidDate: true })
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  checkProperty(
    fc.property(schedule, start, outages, random, (schedule, start, outages, random) => {
      const jitterMs = 9000
      let due = firstDue(schedule, { now: start, jitterMs, random })
      let nominal = due.dueAt
      for (const outageMs of outages) {
        const now = new Date(due.fireAt.getTime() + outageMs)
        const next = nextDue(schedule, { dueAt: due.dueAt, now, jitterMs, random })
        for (let missed = 0; missed <= next.missed; missed++) nominal = nextAt(schedule, nominal)
        expect(next.dueAt).toEqual(nominal)
        expect(next.dueAt.getTime()).toBeGreaterThan(now.getTime())
        expect(next.fireAt.getTime()).toBeGreaterThanOrEqual(next.dueAt.getTime())
        expect(next.fireAt.getTime()).toBeLessThan(nextAt(schedule, next.dueAt).getTime())
        due = next
      }
    }),
    100,
  )
})
