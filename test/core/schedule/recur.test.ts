/** When a recurring follow-up is due again. */
import { expect, it } from 'vitest'
import { nextFollowUpTime } from '../../../src/core/schedule/recur.ts'

const at = (text: string) => new Date(`2026-${text}Z`)
const hourly = { cron: '0 * * * *', timeZone: 'UTC', recurring: true, expiresAt: at('03-08T12:00:00') }

it('is at the next match after now, also when some were missed', () => {
  expect(nextFollowUpTime(hourly, at('03-01T12:00:00'))).toEqual(at('03-01T13:00:00'))
  expect(nextFollowUpTime(hourly, at('03-01T12:00:01'))).toEqual(at('03-01T13:00:00'))
  expect(nextFollowUpTime(hourly, at('03-01T17:30:00'))).toEqual(at('03-01T18:00:00'))
})

it('is never when the next match is not before it expires', () => {
  expect(nextFollowUpTime(hourly, at('03-08T10:30:00'))).toEqual(at('03-08T11:00:00'))
  expect(nextFollowUpTime(hourly, at('03-08T11:00:00'))).toBeNull()
  expect(nextFollowUpTime({ ...hourly, expiresAt: null }, at('03-08T11:00:00'))).toEqual(at('03-08T12:00:00'))
})

it('is never for a single follow-up', () => {
  expect(nextFollowUpTime({ ...hourly, recurring: false }, at('03-01T12:00:00'))).toBeNull()
  expect(nextFollowUpTime({ ...hourly, cron: null }, at('03-01T12:00:00'))).toBeNull()
})

it('goes by the clocks of its zone, also on the day they change', () => {
  const berlin = { ...hourly, cron: '30 2 * * *', timeZone: 'Europe/Berlin', expiresAt: null }
  expect(nextFollowUpTime(berlin, at('03-28T01:30:00'))).toEqual(at('03-29T01:00:00'))
  expect(nextFollowUpTime(berlin, at('03-29T01:00:00'))).toEqual(at('03-30T00:30:00'))
})
