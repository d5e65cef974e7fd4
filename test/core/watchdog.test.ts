import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  NOTHING_COUNTED,
  pass,
  type WatchCounts,
  type WatchFacts,
  type WatchLimits,
  type WatchPhase,
  watch,
} from '../../src/core/watchdog.ts'
import { checkProperty } from './random.ts'

const LIMITS: WatchLimits = {
  maxDurationMs: 100_000,
  idleTimeoutMs: 30_000,
  hangAfterResultMs: 5000,
  questionTimeoutMs: 50_000,
  maxOutputBytes: 1000,
}

interface Given {
  phase?: WatchPhase
  bytes?: number
  worked?: number
  silent?: number
  waiting?: number
  over?: number
}

const facts = ({ phase = 'working', bytes = 0, ...given }: Given): WatchFacts => {
  const { worked = 0, silent = 0, waiting = 0, over = 0 } = given
  const counts = {
    workedMs: worked * 1000,
    silentMs: silent * 1000,
    waitingMs: waiting * 1000,
    overMs: over * 1000,
  }
  return { phase, counts, outputBytes: bytes }
}

/** In seconds. */
const cause = (given: Given) => {
  const verdict = watch(facts(given), LIMITS)
  return verdict.kind === 'stop' ? verdict.cause : `wait ${verdict.forMs / 1000}`
}

describe('an attempt is stopped', () => {
  it('when it has been silent for as long as it may, not before', () => {
    expect(cause({ worked: 49, silent: 29 })).toBe('wait 1')
    expect(cause({ worked: 50, silent: 30 })).toBe('silent')
  })

  it('when it has worked for as long as it may, however much it prints', () => {
    expect(cause({ worked: 99 })).toBe('wait 1')
    expect(cause({ worked: 100 })).toBe('timed-out')
  })

  it('when it does not exit after its result; nothing else counts then', () => {
    expect(cause({ phase: 'over', worked: 100, silent: 30, over: 4 })).toBe('wait 1')
    expect(cause({ phase: 'over', over: 5 })).toBe('hung-after-result')
  })

  it('when nobody answered its question in time; nothing else counts until then', () => {
    expect(cause({ phase: 'waiting', worked: 100, silent: 30, waiting: 49 })).toBe('wait 1')
    expect(cause({ phase: 'waiting', waiting: 50 })).toBe('question-timeout')
  })

  it('when it printed more than it may, at once', () => {
    expect(cause({ bytes: 1000 })).toBe('wait 30')
    for (const phase of ['working', 'held', 'waiting', 'over'] as const)
      expect(cause({ bytes: 1001, phase })).toBe('output-limit')
  })

  it('for the first cause, if it is checked only after several limits have passed', () => {
    expect(cause({ worked: 1000, silent: 940 })).toBe('silent')
    expect(cause({ worked: 1000, silent: 920 })).toBe('timed-out')
  })

  it('with a message that names the limit', () => {
    const message = (given: Given) => watch(facts(given), LIMITS)
    expect(message({ bytes: 2000 })).toHaveProperty('message', 'printed more than 1000 bytes')
    expect(message({ silent: 30 })).toHaveProperty('message', 'printed nothing for 30s')
    expect(message({ worked: 100 })).toHaveProperty('message', 'ran longer than 1m 40s')
  })
})

it('a process that is kept for a follow-up may be silent, but not exceed its work time', () => {
  expect(cause({ phase: 'held', silent: 40, worked: 99 })).toBe('wait 1')
  expect(cause({ phase: 'held', worked: 100 })).toBe('timed-out')
})

it('time counts for what the attempt was doing in it', () => {
  const count = (phase: WatchPhase): Partial<WatchCounts> => {
    const entries = Object.entries(pass(NOTHING_COUNTED, phase, 5)).filter(([, ms]) => ms !== 0)
    return Object.fromEntries(entries)
  }
  expect(count('working')).toEqual({ workedMs: 5, silentMs: 5 })
  expect(count('held')).toEqual({ workedMs: 5 })
  expect(count('waiting')).toEqual({ waitingMs: 5 })
  expect(count('over')).toEqual({ overMs: 5 })
})

it('says for how long to wait: not stopped before that has passed, stopped then', () => {
  const seconds = fc.integer({ min: 0, max: 300 })
  const any = fc.record({
    phase: fc.constantFrom<WatchPhase>('working', 'held', 'waiting', 'over'),
    bytes: fc.integer({ min: 0, max: 1000 }),
    worked: seconds,
    silent: seconds,
    waiting: seconds,
    over: seconds,
  })
  checkProperty(
    fc.property(any, (given) => {
      const now = facts(given)
      const verdict = watch(now, LIMITS)
      if (verdict.kind === 'stop') return
      const after = (ms: number) => watch({ ...now, counts: pass(now.counts, now.phase, ms) }, LIMITS).kind
      expect(verdict.forMs).toBeGreaterThan(0)
      expect([after(verdict.forMs - 1), after(verdict.forMs)]).toEqual(['wait', 'stop'])
    }),
  )
})
