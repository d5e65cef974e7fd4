/** The steady clock: jumps are hidden until they have been followed, and only watched time is counted. */
import { describe, expect, it } from 'vitest'
import { jumpBetween, SteadyClock } from '../../src/core/steady-clock.ts'

const T0 = Date.parse('2026-05-04T10:00:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A machine whose two clocks the test moves. */
function machine() {
  let wallMs = T0
  let passedMs = 1000.25
  const raw = { now: () => new Date(wallMs), monotonicMs: () => passedMs }
  const clock = new SteadyClock(raw)
  const step = (ms: number) => {
    wallMs += ms
    passedMs += ms
  }
  return {
    clock,
    /** Time passes and the daemon ticks. */
    pass(ms: number) {
      for (let left = ms; left > 0; left -= 1000) {
        step(Math.min(left, 1000))
        clock.watchedMs()
      }
    },
    /** Time passes without a tick: a suspend, a SIGSTOP. */
    stopped: step,
    set(byMs: number) {
      wallMs += byMs
    },
  }
}

const since = (clock: SteadyClock) => clock.now().getTime() - T0

it.each([
  ['an hour forward', HOUR],
  ['two days forward', 2 * DAY],
  ['a day back', -DAY],
])('set %s: the jump is hidden until the stored times have been shifted', (_, byMs) => {
  const { clock, pass, set } = machine()
  pass(3000)
  const watched = clock.watchedMs()
  set(byMs)
  expect(since(clock)).toBe(3000)
  pass(2000)
  expect(since(clock)).toBe(5000)
  expect(clock.watchedMs() - watched).toBe(2000)
  const change = clock.unfollowed()
  expect(change).toEqual({ jumpMs: byMs, missedMs: 0 })
  clock.follow(change)
  expect(since(clock)).toBe(5000 + byMs)
  expect(clock.unfollowed()).toEqual({ jumpMs: 0, missedMs: 0 })
})

it('set again during `follow`: the later jump must still be followed', () => {
  const { clock, set } = machine()
  set(HOUR)
  const first = clock.unfollowed()
  set(-DAY)
  expect(since(clock)).toBe(0)
  clock.follow(first)
  expect(since(clock)).toBe(HOUR)
  expect(clock.unfollowed()).toEqual({ jumpMs: -DAY, missedMs: 0 })
})

it('small corrections are followed at once, however many', () => {
  const { clock, pass, set } = machine()
  for (let i = 0; i < 10; i++) {
    set(-900)
    pass(1000)
  }
  expect(clock.unfollowed()).toEqual({ jumpMs: 0, missedMs: 0 })
  expect(since(clock)).toBe(1000)
})

describe('time without watching', () => {
  it('passes, but is not counted, for a suspend as for a stop', () => {
    const { clock, pass, stopped } = machine()
    pass(5000)
    const watched = clock.watchedMs()
    stopped(8 * HOUR)
    expect(clock.watchedMs() - watched).toBe(2000)
    expect(since(clock)).toBe(5000 + 8 * HOUR)
    expect(clock.unfollowed()).toEqual({ jumpMs: 0, missedMs: 8 * HOUR - 2000 })
    clock.follow(clock.unfollowed())
    pass(1000)
    expect(clock.unfollowed()).toEqual({ jumpMs: 0, missedMs: 0 })
    expect(clock.watchedMs() - watched).toBe(3000)
  })

  it('a late tick is watched time, and a somewhat later one moves nothing that is stored', () => {
    const { clock, stopped } = machine()
    const watched = clock.watchedMs()
    stopped(1900)
    expect(clock.watchedMs() - watched).toBe(1900)
    stopped(6000)
    expect(clock.unfollowed()).toEqual({ jumpMs: 0, missedMs: 0 })
  })

  it('is distinguished from a jump of the clock at the same time', () => {
    const { clock, stopped, set } = machine()
    stopped(HOUR)
    set(-DAY)
    expect(clock.unfollowed()).toEqual({ jumpMs: -DAY, missedMs: HOUR - 2000 })
    expect(since(clock)).toBe(HOUR)
  })
})

it('a jump is what the difference between the clocks has changed by, from five seconds on', () => {
  expect([0, 4999, 5000, -4999, -5000].map((ms) => jumpBetween(7, 7 + ms))).toEqual([0, 0, 5000, 0, -5000])
})
