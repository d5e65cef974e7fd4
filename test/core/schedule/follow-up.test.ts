import { describe, expect, test } from 'vitest'
import { type FollowUpWish, planFollowUp } from '../../../src/core/schedule/follow-up.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const at = (text: string) => new Date(text)
const now = at('2026-05-04T10:00:30Z')

const limits = { now, deadlineAt: null, maxAheadMs: 30 * DAY, pending: 0, maxPending: 20 }
const inCycle = { ...limits, deadlineAt: at('2026-05-04T10:30:00Z') }
const cron = (text: string, recurring = false, timeZone = 'UTC') => ({ cron: text, recurring, timeZone })

describe('planned', () => {
  test.each<[FollowUpWish, string]>([
    [{ inMs: 1000 }, '2026-05-04T10:00:31Z'],
    [{ inMs: 30 * DAY }, '2026-06-03T10:00:30Z'],
    [{ at: at('2026-05-04T10:00:30.001Z') }, '2026-05-04T10:00:30.001Z'],
    [{ at: at('2026-05-04T14:00:00+02:00') }, '2026-05-04T12:00:00Z'],
  ])('%j', (wish, dueAt) => {
    expect(planFollowUp(wish, limits)).toEqual({
      ok: true,
      dueAt: at(dueAt),
      cron: null,
      recurring: false,
      expiresAt: null,
    })
  })

  test('once, at the next match of an expression', () => {
    const plan = { ok: true, cron: '30 12 * * *', recurring: false, expiresAt: null }
    expect(planFollowUp(cron(' 30 12 * * *'), limits)).toEqual({ ...plan, dueAt: at('2026-05-04T12:30:00Z') })
    expect(planFollowUp(cron('30 12 * * *', false, 'Europe/Berlin'), limits)).toEqual({
      ...plan,
      dueAt: at('2026-05-04T10:30:00Z'),
    })
  })

  test('once, on a day that not every year has', () => {
    const leap = { ...limits, now: at('2028-02-28T20:00:00Z') }
    expect(planFollowUp(cron('0 9 29 2 *'), leap)).toMatchObject({ dueAt: at('2028-02-29T09:00:00Z') })
  })

  test('recurring, for a week', () => {
    const plan = { ok: true, dueAt: at('2026-05-04T10:05:00Z'), cron: '*/5 * * * *', recurring: true }
    expect(planFollowUp(cron('*/5 * * * *', true), limits)).toEqual({
      ...plan,
      expiresAt: at('2026-05-11T10:00:30Z'),
    })
    expect(planFollowUp(cron('*/5 * * * *', true), { ...limits, latestExpiryMs: DAY })).toEqual({
      ...plan,
      expiresAt: at('2026-05-05T10:00:30Z'),
    })
  })

  test('recurring, until the cycle ends', () => {
    expect(planFollowUp(cron('*/5 * * * *', true), inCycle)).toMatchObject({
      expiresAt: inCycle.deadlineAt,
    })
  })

  test('the last one that is allowed', () => {
    expect(planFollowUp({ inMs: 1000 }, { ...limits, pending: 19 })).toMatchObject({ ok: true })
  })
})

describe('refused', () => {
  const reason = (wish: FollowUpWish, given: Parameters<typeof planFollowUp>[1] = limits) => {
    const plan = planFollowUp(wish, given)
    return plan.ok ? 'planned' : plan.reason
  }

  test.each([999, 0, -1, Number.NaN])('in %d ms', (inMs) => {
    expect(reason({ inMs })).toBe('The delay is too short: it must be at least 1 s.')
  })

  test('in the past, and right now', () => {
    expect(reason({ at: at('2026-05-04T09:00:00Z') })).toBe(
      '2026-05-04T09:00:00Z is in the past: it is 2026-05-04T10:00:30Z. Choose a later time.',
    )
    expect(reason({ at: now })).toContain('is in the past')
    expect(reason({ at: at('soon') })).toContain('That is not a time')
  })

  test('after the end of the cycle', () => {
    const ends = 'The cycle ends at 2026-05-04T10:30:00Z; nothing can be scheduled after that.'
    expect(reason({ inMs: HOUR }, inCycle)).toBe(`${ends} It is 2026-05-04T10:00:30Z.`)
    expect(reason({ at: inCycle.deadlineAt }, inCycle)).toContain(ends)
    expect(reason(cron('0 12 * * *'), inCycle)).toBe(
      `${ends} "0 12 * * *" next occurs at 2026-05-04T12:00:00Z. It is 2026-05-04T10:00:30Z.`,
    )
  })

  test('too far ahead', () => {
    expect(reason({ inMs: 5 * 365 * DAY })).toBe(
      'That is too far ahead: at most 30d, until 2026-06-03T10:00:30Z. It is 2026-05-04T10:00:30Z.',
    )
    expect(reason({ inMs: Number.POSITIVE_INFINITY })).toContain('too far ahead')
    expect(reason({ inMs: Number.POSITIVE_INFINITY }, inCycle)).toContain('too far ahead')
    // The agent meant a time that was a minute ago.
    expect(reason(cron('0 10 4 5 *'))).toContain('"0 10 4 5 *" next occurs at 2027-05-04T10:00:00Z.')
  })

  test('too many', () => {
    expect(reason({ inMs: 1000 }, { ...limits, pending: 20 })).toBe(
      '20 follow-ups are pending, and at most 20 are allowed. Delete one that is not needed, or wait until one has fired.',
    )
    expect(reason({ inMs: 1000 }, { ...limits, pending: 10_000 })).toContain('10000 follow-ups are pending')
  })

  test('nonsense', () => {
    expect(reason(cron('every day'))).toContain(
      'The cron expression "every day" has 2 fields instead of five: ',
    )
    expect(reason(cron('0 0 30 2 *'))).toContain('"0 0 30 2 *" never occurs')
    expect(reason(cron('0 7 * * *', false, 'Mars/X'))).toContain('"Mars/X" is not a known time zone')
  })

  test('recurring, but with the first match after the expiry', () => {
    expect(reason(cron('0 0 1 6 *', true))).toBe(
      'A recurring follow-up ends after 7d, at 2026-05-11T10:00:30Z; "0 0 1 6 *" first occurs at 2026-06-01T00:00:00Z. Plan it once, or choose a more frequent expression.',
    )
  })
})
