import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cronTimes, parseCron } from '../../../src/core/schedule/cron.ts'
import { isTimeZone, machineTimeZone, offsetsOf } from '../../../src/core/schedule/time-zone.ts'
import { checkProperty } from '../random.ts'

function following(cron: string, timeZone: string, after: string, count: number): string[] {
  const times = cronTimes(cron, timeZone)
  const found: Date[] = []
  for (let at: Date | null = new Date(after); found.length < count; found.push(at)) {
    at = times(at)
    if (!at) break
  }
  return found.map((at) => at.toISOString().replace(':00.000Z', 'Z'))
}

describe('what can be read', () => {
  test.each([
    '* * * * *',
    '*/15 8-18 * * 1-5',
    '0 7 * * MON-FRI',
    '0 0 1,15 jan,jul *',
    '0 0 L * *',
    '0 0 * * 7',
    '0 0 * * FRI#2',
    '@daily',
  ])('%s', (cron) => expect(parseCron(cron)).toEqual({ ok: true, cron }))

  test('however it is spaced and written', () => {
    expect(parseCron('  0\t7 *\n* 1-5 ')).toEqual({ ok: true, cron: '0 7 * * 1-5' })
    expect(parseCron('@Daily')).toEqual({ ok: true, cron: '@daily' })
  })

  test.each([
    ['', '"" has 0 fields instead of five'],
    ['noon', '"noon" has 1 field instead of five'],
    ['* * * *', '"* * * *" has 4 fields instead of five'],
    ['0 * * * * *', '"0 * * * * *" has 6 fields instead of five'],
    ['60 * * * *', '"60 * * * *" has "60" in field 1, the minute'],
    ['0 24 * * *', '"0 24 * * *" has "24" in field 2, the hour'],
    ['0 0 0 * *', '"0 0 0 * *" has "0" in field 3, the day of the month'],
    ['0 0 1 13 *', '"0 0 1 13 *" has "13" in field 4, the month'],
    ['0 0 * * 8', '"0 0 * * 8" has "8" in field 5, the day of the week'],
    ['0 0 * * mon-fry', '"0 0 * * mon-fry" has "mon-fry" in field 5, the day of the week'],
    ['*/0 * * * *', '"*/0 * * * *" has "*/0" in field 1, the minute'],
    ['5/10 * * * *', '"5/10 * * * *" has "5/10" in field 1, the minute'],
    ['10-5 * * * *', '"10-5 * * * *" has "10-5" in field 1, the minute'],
    ['1,,2 * * * *', '"1,,2 * * * *" has "1,,2" in field 1, the minute'],
    ['-1 * * * *', '"-1 * * * *" has "-1" in field 1, the minute'],
    ['2026-01-01T00:00:00', '"2026-01-01T00:00:00" has 1 field instead of five'],
    ['@reboot', '"@reboot" is not a known expression'],
  ])('not %j', (cron, problem) => {
    expect(parseCron(cron)).toEqual({ ok: false, problem, hint: expect.any(String) })
  })

  test('the hint says what would be accepted', () => {
    expect(parseCron('0 0 * * * *')).toMatchObject({
      hint: 'write minute, hour, day of the month, month, day of the week, such as "0 7 * * 1-5"; seconds are not supported',
    })
    expect(parseCron('0 25 * * *')).toMatchObject({ hint: expect.stringMatching(/^use 0-23, \*/) })
  })
})

describe('when it matches', () => {
  test.each([
    ['0 7 * * 1-5', 'UTC', '2026-05-01T07:00:00Z', ['2026-05-04T07:00Z', '2026-05-05T07:00Z']],
    ['0 7 * * 1-5', 'Europe/Berlin', '2026-05-01T00:00:00Z', ['2026-05-01T05:00Z', '2026-05-04T05:00Z']],
    ['*/20 * * * *', 'Asia/Kolkata', '2026-05-01T00:00:00Z', ['2026-05-01T00:10Z', '2026-05-01T00:30Z']],
    ['@monthly', 'America/New_York', '2026-01-31T00:00:00Z', ['2026-02-01T05:00Z', '2026-03-01T05:00Z']],
    ['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
    ['0 0 13 * 5', 'UTC', '2026-03-08T00:00:00Z', ['2026-03-13T00:00Z', '2026-03-20T00:00Z']],
    ['0 0 30 2 *', 'UTC', '2026-01-01T00:00:00Z', []],
  ])('%s in %s', (cron, timeZone, after, expected) => {
    expect(following(cron, timeZone, after, 2)).toEqual(expected)
  })

  test('strictly after, to the millisecond', () => {
    const next = (after: string) => cronTimes('0 * * * *', 'UTC')(new Date(after))?.toISOString()
    expect(next('2026-01-01T00:59:59.999Z')).toBe('2026-01-01T01:00:00.000Z')
    expect(next('2026-01-01T01:00:00.000Z')).toBe('2026-01-01T02:00:00.000Z')
    expect(next('2026-01-01T01:00:00.001Z')).toBe('2026-01-01T02:00:00.000Z')
  })
})

describe('when the clocks go forward', () => {
  test('a time that is left out fires at that moment, once', () => {
    expect(following('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', 3)).toEqual([
      '2026-03-28T01:30Z',
      '2026-03-29T01:00Z', // 03:00 instead of 02:30
      '2026-03-30T00:30Z',
    ])
    expect(following('30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 2)).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-09T06:30Z',
    ])
  })

  test('several that are left out fire together', () => {
    expect(following('*/20 2-3 * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', 4)).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-29T01:20Z',
      '2026-03-29T01:40Z',
      '2026-03-30T00:00Z',
    ])
  })

  test('a pattern for every hour follows elapsed time', () => {
    expect(following('30 * * * *', 'Europe/Berlin', '2026-03-28T23:45:00Z', 3)).toEqual([
      '2026-03-29T00:30Z',
      '2026-03-29T01:30Z',
      '2026-03-29T02:30Z',
    ])
  })
})

describe('when the clocks go back', () => {
  test('a time that comes twice fires the first time', () => {
    expect(following('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ])
    expect(following('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T05:30Z',
      '2026-11-02T06:30Z',
    ])
  })

  test('after the first of the two hours, the next match is tomorrow', () => {
    expect(following('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:15:00Z', 1)).toEqual(['2026-10-26T01:30Z'])
  })

  test('a pattern for every hour fires both times', () => {
    expect(following('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', 3)).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T01:00Z',
      '2026-10-25T02:00Z',
    ])
  })

  test('by half an hour', () => {
    expect(following('45 1 * * *', 'Australia/Lord_Howe', '2026-04-03T20:00:00Z', 2)).toEqual([
      '2026-04-04T14:45Z',
      '2026-04-05T15:15Z',
    ])
  })
})

test('each time is after the one before, and matches the pattern in local time unless the clocks change', () => {
  const numbers = (max: number) => fc.integer({ min: 0, max })
  const hours = fc.oneof(fc.constant('*'), numbers(23).map(String), fc.constant('*/2'))
  const zones = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kolkata',
  )
  const start = fc.date({ min: new Date('2026-01-01'), max: new Date('2028-01-01'), noInvalidDate: true })
  checkProperty(
    fc.property(numbers(59), hours, zones, start, (minute, hour, timeZone, from) => {
      const times = cronTimes(`${minute} ${hour} * * *`, timeZone)
      const offsetAt = offsetsOf(timeZone)
      let before = from.getTime()
      for (let i = 0; i < 30; i++) {
        const at = times(new Date(before))?.getTime() ?? 0
        expect(at).toBeGreaterThan(before)
        expect(at - before).toBeLessThanOrEqual(49 * 3_600_000)
        const moved = offsetAt(at - 1) !== offsetAt(at)
        if (!moved) expect(new Date(at + offsetAt(at)).getUTCMinutes()).toBe(minute)
        before = at
      }
    }),
    100,
  )
})

describe('zones', () => {
  test.each([
    ['Europe/Berlin', true],
    ['europe/berlin', true],
    ['UTC', true],
    ['Europe/Berlin ', false],
    ['Mars/Olympus', false],
    ['+01:00', false],
    ['', false],
  ])('%j: %s', (name, known) => expect(isTimeZone(name)).toBe(known))

  test('that of the machine is known', () => expect(isTimeZone(machineTimeZone())).toBe(true))

  test.each([
    ['UTC', '2026-01-01T00:00:00Z', 0],
    ['Europe/Berlin', '2026-07-01T00:00:00Z', 120],
    ['America/St_Johns', '2026-01-01T00:00:00Z', -210],
  ])('%s at %s is %i minutes ahead', (zone, at, minutes) => {
    expect(offsetsOf(zone)(Date.parse(at))).toBe(minutes * 60_000)
  })
})
