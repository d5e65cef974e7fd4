import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type WatchFacts, type WatchLimits, watch } from '../../src/core/watchdog.ts'
import { checkProperty } from './random.ts'

const T0 = Date.parse('2026-03-01T12:00:00Z')
const at = (seconds: number) => new Date(T0 + seconds * 1000)

const LIMITS: WatchLimits = {
  maxDurationMs: 100_000,
  idleTimeoutMs: 30_000,
  hangAfterResultMs: 5000,
  questionTimeoutMs: 50_000,
  maxOutputBytes: 1000,
}

const facts = (change: Partial<WatchFacts> = {}): WatchFacts => ({
  startedAt: at(0),
  lastOutputAt: at(0),
  outputBytes: 0,
  turnEndedAt: null,
  waitingSince: null,
  waitedMs: 0,
  heldUntil: null,
  ...change,
})

const cause = (change: Partial<WatchFacts>, seconds: number) => {
  const verdict = watch(facts(change), LIMITS, at(seconds))
  return verdict.kind === 'stop' ? verdict.cause : `wait ${(verdict.untilMs - T0) / 1000}`
}

describe('an attempt is stopped', () => {
  it('when it has been silent for as long as it may, not before', () => {
    expect(cause({ lastOutputAt: at(20) }, 49)).toBe('wait 50')
    expect(cause({ lastOutputAt: at(20) }, 50)).toBe('silent')
  })

  it('when it has run for as long as it may, however much it prints', () => {
    expect(cause({ lastOutputAt: at(99) }, 99)).toBe('wait 100')
    expect(cause({ lastOutputAt: at(99) }, 100)).toBe('timed-out')
  })

  it('when it does not exit after its result; nothing else counts then', () => {
    expect(cause({ lastOutputAt: at(96), turnEndedAt: at(96) }, 100)).toBe('wait 101')
    expect(cause({ lastOutputAt: at(96), turnEndedAt: at(96) }, 101)).toBe('hung-after-result')
  })

  it('when nobody answered its question in time', () => {
    expect(cause({ waitingSince: at(10) }, 59)).toBe('wait 60')
    expect(cause({ waitingSince: at(10) }, 60)).toBe('question-timeout')
  })

  it('when it printed more than it may, at once', () => {
    expect(cause({ outputBytes: 1000 }, 0)).toBe('wait 30')
    expect(cause({ outputBytes: 1001 }, 0)).toBe('output-limit')
    expect(cause({ outputBytes: 1001, waitingSince: at(0) }, 1)).toBe('output-limit')
    expect(cause({ outputBytes: 1001, turnEndedAt: at(0) }, 1)).toBe('output-limit')
  })

  it('for the cause that came first, if one looks only after several have passed', () => {
    expect(cause({ lastOutputAt: at(60) }, 1000)).toBe('silent')
    expect(cause({ lastOutputAt: at(80) }, 1000)).toBe('timed-out')
  })

  it('with a message that names the limit', () => {
    expect(watch(facts({ outputBytes: 2000 }), LIMITS, at(0))).toHaveProperty(
      'message',
      'printed more than 1000 bytes',
    )
    expect(watch(facts(), LIMITS, at(30))).toHaveProperty('message', 'printed nothing for 30s')
    expect(watch(facts({ lastOutputAt: at(99) }), LIMITS, at(100))).toHaveProperty(
      'message',
      'ran longer than 1m 40s',
    )
  })
})

describe('waiting for a person', () => {
  it('suspends silence and maximum duration', () => {
    expect(cause({ waitingSince: at(90), lastOutputAt: at(0) }, 139)).toBe('wait 140')
  })

  it('is added to the maximum duration afterwards', () => {
    expect(cause({ waitedMs: 40_000, lastOutputAt: at(139) }, 139)).toBe('wait 140')
    expect(cause({ waitedMs: 40_000, lastOutputAt: at(139) }, 140)).toBe('timed-out')
  })
})

describe('an attempt that is kept for what comes', () => {
  it('may be silent until then', () => {
    expect(cause({ heldUntil: at(80) }, 79)).toBe('wait 100')
    expect(cause({ heldUntil: at(80), lastOutputAt: at(0) }, 99)).toBe('wait 100')
    expect(cause({ heldUntil: null, lastOutputAt: at(0) }, 79)).toBe('silent')
  })

  it('is stopped all the same when it has run for as long as it may, or printed too much', () => {
    expect(cause({ heldUntil: at(200) }, 100)).toBe('timed-out')
    expect(cause({ heldUntil: at(200), outputBytes: 1001 }, 1)).toBe('output-limit')
  })

  it('is given back the time in which it waited for a person', () => {
    expect(cause({ heldUntil: at(200), waitedMs: 50_000 }, 149)).toBe('wait 150')
  })
})

it('says when to look again: not stopped before that moment, stopped at it', () => {
  const second = fc.integer({ min: 0, max: 300 }).map(at)
  const any = fc.record({
    startedAt: second,
    lastOutputAt: second,
    outputBytes: fc.integer({ min: 0, max: 1000 }),
    turnEndedAt: fc.option(second),
    waitingSince: fc.option(second),
    waitedMs: fc.integer({ min: 0, max: 100_000 }),
    heldUntil: fc.option(second),
  })
  checkProperty(
    fc.property(any, second, (f, now) => {
      const verdict = watch(f, LIMITS, now)
      if (verdict.kind === 'stop') return
      expect(verdict.untilMs).toBeGreaterThan(now.getTime())
      expect(watch(f, LIMITS, new Date(verdict.untilMs - 1)).kind).toBe('wait')
      expect(watch(f, LIMITS, new Date(verdict.untilMs)).kind).toBe('stop')
    }),
  )
})
