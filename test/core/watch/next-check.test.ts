import { describe, expect, test } from 'vitest'
import type { CycleOutcome, Trigger } from '../../../src/contract/cycle.ts'
import type { Schedule } from '../../../src/core/schedule/schedule.ts'
import { decideNextCheck } from '../../../src/core/watch/next-check.ts'

const MINUTE = 60_000
const at = (clock: string) => new Date(`2026-03-02T${clock}:00Z`)
const hourly: Schedule = { kind: 'every', everyMs: 60 * MINUTE }
const daily: Schedule = { kind: 'cron', cron: '0 7 * * *', timeZone: 'UTC' }
type Result = [CycleOutcome | null, string | null]
const WELL: Result = ['completed', 'healthy']
const DOWN: Result = ['completed', 'down']

/** A cycle that was due at 10:00 has ended at 10:02, of a watch that is due at 11:00. */
function decide(result: Result, before: readonly Result[] = [], change: Partial<Facts> = {}) {
  const facts = { schedule: hourly, due: '11:00', now: '10:02', trigger: 'schedule' as Trigger, ...change }
  const [outcome, status] = result
  const next = decideNextCheck({
    schedule: facts.schedule,
    everyWhileNotHealthyMs: 5 * MINUTE,
    jitterMs: facts.jitterMs ?? 0,
    due: at(facts.due),
    ended: { outcome, status, dueAt: at('10:00'), trigger: facts.trigger },
    before: before.map(([outcome, status]) => ({ outcome, status })),
    now: at(facts.now),
    random: 0.5,
  })
  return next && [next.dueAt, next.fireAt].map((time) => time.toISOString().slice(11, 19))
}
interface Facts {
  schedule: Schedule
  due: string
  now: string
  trigger: Trigger
  jitterMs: number
}
const SOON = ['10:05:00', '10:05:00']

test.each<[Result, string[] | null]>([
  [['completed', 'healthy'], null],
  [['completed', 'fixed'], null],
  [['completed', 'degraded'], SOON],
  [['completed', 'down'], SOON],
  [['completed', 'unknown'], SOON],
  [['completed', null], SOON],
  [['failed', null], SOON],
  [['failed', 'healthy'], SOON],
  [['timed-out', 'healthy'], SOON],
  [['cancelled', null], null],
  [['cancelled', 'down'], null],
])('a scheduled cycle that ended as %j', (result, next) => {
  expect(decide(result)).toEqual(next)
  // The result before it makes no difference: firing has stored the regular time that follows.
  expect(decide(result, [DOWN])).toEqual(next)
})

describe('the shorter interval', () => {
  test('is counted from when the cycle was due, and skips what has passed', () => {
    expect(decide(DOWN, [], { now: '10:17' })).toEqual(['10:20:00', '10:20:00'])
  })
  test('does not delay a regular time that is earlier', () => {
    expect(decide(DOWN, [], { due: '10:04' })).toBeNull()
    expect(decide(DOWN, [], { due: '10:05' })).toBeNull()
  })
  test('has jitter, below the interval', () => {
    expect(decide(DOWN, [], { jitterMs: 2 * MINUTE })).toEqual(['10:05:00', '10:06:00'])
    expect(decide(DOWN, [], { jitterMs: 60 * MINUTE })).toEqual(['10:05:00', '10:07:30'])
  })
  test('applies to cron too', () => {
    expect(decide(DOWN, [], { schedule: daily, due: '23:00' })).toEqual(SOON)
  })
})

describe('a cycle outside of the schedule that is well', () => {
  const early = { due: '10:05', trigger: 'event' } as const
  test('replaces the early time by the regular one', () => {
    expect(decide(WELL, [DOWN], early)).toEqual(['11:00:00', '11:00:00'])
    expect(decide(WELL, [['cancelled', null], DOWN], early)).toEqual(['11:00:00', '11:00:00'])
    expect(decide(WELL, [DOWN], { ...early, schedule: daily })).toEqual(['07:00:00', '07:00:00'])
  })
  test('changes nothing if the watch was well before, or is due later anyway', () => {
    expect(decide(WELL, [], early)).toBeNull()
    expect(decide(WELL, [WELL, DOWN], early)).toBeNull()
    expect(decide(WELL, [DOWN], { ...early, due: '11:30' })).toBeNull()
  })
})
