/** The decision what follows an attempt. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OUTCOMES, type OutcomeName } from '../../src/contract/outcome.ts'
import { type AttemptEnd, countInterruptions, decideNext } from '../../src/core/continue/decide.ts'
import { checkProperty } from './random.ts'

const ended = (name: OutcomeName, change: Partial<AttemptEnd> = {}): AttemptEnd => ({
  outcome: { name, message: `said ${name}` },
  kind: 'turn',
  resumed: false,
  cancelRequested: false,
  outdated: false,
  unattended: false,
  interruptions: name === 'crashed' ? 1 : 0,
  wait: null,
  overflows: name === 'context-overflow' ? 1 : 0,
  attempts: 1,
  maxResumes: 3,
  backoffMs: 30_000,
  jitter: 0,
  ...change,
})

const TRIED_AGAIN: readonly OutcomeName[] = ['crashed', 'session-busy', 'session-missing']
const FINAL = OUTCOMES.filter((name) => !TRIED_AGAIN.includes(name))

describe('the run settles', () => {
  it.each(FINAL)('with the outcome of its attempt: %s', (name) => {
    // A resumed session that overflowed is compacted first.
    for (const resumed of name === 'context-overflow' ? [false] : [true, false]) {
      for (const interruptions of [0, 1, 9]) {
        const next = decideNext(ended(name, { resumed, interruptions }))
        expect(next).toEqual({ kind: 'settle', outcome: { name, message: `said ${name}` } })
      }
    }
  })

  it('not while its question was edited since it was asked, unless it is cancelled', () => {
    for (const name of OUTCOMES) {
      expect(decideNext(ended(name, { outdated: true }))).toMatchObject({ kind: 'retry', afterMs: 0 })
      const cancelled = decideNext(ended(name, { outdated: true, cancelRequested: true }))
      expect(cancelled).toMatchObject({ kind: 'settle', outcome: { name: 'cancelled' } })
    }
  })

  it('when a new session is reported as missing, because another new session would not help', () => {
    expect(decideNext(ended('session-missing'))).toMatchObject({ kind: 'settle' })
  })

  it('when the agent crashed more often than allowed', () => {
    expect(decideNext(ended('crashed', { interruptions: 3 }))).toMatchObject({ kind: 'retry' })
    expect(decideNext(ended('crashed', { interruptions: 4 }))).toMatchObject({
      kind: 'settle',
      outcome: { name: 'crashed', message: 'said crashed' },
    })
    expect(decideNext(ended('crashed', { interruptions: 1, maxResumes: 0 }))).toMatchObject({
      kind: 'settle',
    })
  })

  it.each(OUTCOMES)('once it was cancelled, whatever its last attempt says: %s', (name) => {
    for (const resumed of [true, false]) {
      const next = decideNext(ended(name, { cancelRequested: true, resumed, interruptions: 1 }))
      const said = name === 'crashed' ? 'cancelled' : name
      expect(next).toMatchObject({ kind: 'settle', outcome: { name: said } })
    }
  })
})

describe('the run is tried again', () => {
  it('at once and without counting, when the agent refused to resume', () => {
    const next = decideNext(ended('session-missing', { resumed: true, interruptions: 99, maxResumes: 0 }))
    expect(next).toMatchObject({ kind: 'retry', afterMs: 0 })
    expect(next).toHaveProperty('why', expect.stringContaining('a new session with the history'))
  })

  it('after a crash, saying why and how often', () => {
    const next = decideNext(ended('crashed', { interruptions: 2 }))
    expect(next).toHaveProperty('why', 'said crashed; trying again (2 of 3)')
  })

  it('at once after a first crash in the middle of work, later and later after more, a minute at most', () => {
    const wait = (interruptions: number, jitter = 0) => {
      const next = decideNext(ended('crashed', { interruptions, jitter, maxResumes: 100 }))
      return next.kind === 'retry' ? next.afterMs : Number.NaN
    }
    expect([1, 2, 3, 4, 5].map((interruptions) => wait(interruptions))).toEqual([0, 1000, 2000, 4000, 8000])
    expect(wait(50)).toBe(60_000)
    expect(wait(100)).toBe(60_000)
    expect(wait(2, 0.5)).toBe(1250)
    expect(wait(50, 0.999)).toBeLessThan(90_001)
  })
})

describe('whatever the agent does, the run settles', () => {
  interface Life {
    outcomes: OutcomeName[]
    maxResumes: number
    resumes: boolean
  }
  const life: fc.Arbitrary<Life> = fc.record({
    // Mostly the two outcomes that are retried, because only these could repeat forever.
    outcomes: fc.array(fc.constantFrom<OutcomeName>('crashed', 'crashed', 'session-missing', ...OUTCOMES), {
      minLength: 60,
      maxLength: 60,
    }),
    maxResumes: fc.integer({ min: 0, max: 12 }),
    resumes: fc.boolean(),
  })

  /** Simulates a run: a refused session is not resumed again; `mayResume` says whether a crashed attempt's session is. */
  function attemptsOf({ outcomes, maxResumes, resumes }: Life, mayResume: boolean): number {
    let interruptions = 0
    let overflows = 0
    let resumed = resumes
    for (const [index, name] of outcomes.entries()) {
      if (name === 'crashed' || name === 'session-busy') interruptions++
      if (name === 'context-overflow') overflows++
      const next = decideNext(ended(name, { resumed, interruptions, overflows, maxResumes }))
      if (next.kind === 'settle') return index + 1
      resumed = name === 'session-missing' ? false : mayResume && interruptions < maxResumes
    }
    return Number.POSITIVE_INFINITY
  }

  it('within the resumes it may use, one refused resume, one overflow and the last attempt', () => {
    checkProperty(
      fc.property(life, (l) => {
        expect(attemptsOf(l, false)).toBeLessThanOrEqual(l.maxResumes + 3)
      }),
      2000,
    )
  })

  it('within twice as many when every session it makes is refused as well', () => {
    checkProperty(
      fc.property(life, (l) => {
        expect(attemptsOf(l, true)).toBeLessThanOrEqual(2 * l.maxResumes + 4)
      }),
      2000,
    )
  })

  it('after at most two overflows', () => {
    const end = (overflows: number, kind: 'turn' | 'compact' = 'turn') =>
      decideNext(ended('context-overflow', { resumed: true, overflows, kind }))
    expect([1, 2, 3].map((n) => end(n).kind)).toEqual(['retry', 'retry', 'settle'])
    expect(decideNext(ended('context-overflow', { resumed: false }))).toMatchObject({ kind: 'settle' })
  })

  it.each([
    ['completed', 'retry'],
    ['turn-limit', 'retry'],
    ['auth', 'settle'],
    ['rate-limited', 'settle'],
    ['cancelled', 'settle'],
  ] as const)('after a compaction that ended %s: %s', (name, kind) => {
    expect(decideNext(ended(name, { resumed: true, kind: 'compact' })).kind).toBe(kind)
  })
})

describe('an unattended run', () => {
  const job = (name: OutcomeName, change: Partial<AttemptEnd> & { apiStatus?: number } = {}) => {
    const { apiStatus, ...rest } = change
    const outcome = { name, message: `said ${name}`, ...(apiStatus ? { apiStatus } : {}) }
    return ended(name, { unattended: true, interruptions: 1, outcome, ...rest })
  }
  const interruptions = (name: OutcomeName, progressed: boolean, apiStatus?: number) =>
    countInterruptions(
      { name, message: '', ...(apiStatus ? { apiStatus } : {}) },
      { unattended: true, resumed: false, progressed },
    )

  it.each([
    ['timed-out', undefined],
    ['api-error', undefined],
    ['session-busy', undefined],
  ] as const)('an interruption is tried again, and counts: %s %s', (name, apiStatus) => {
    const change = apiStatus ? { apiStatus } : {}
    expect(decideNext(job(name, { ...change, interruptions: 3 })).kind).toBe('retry')
    expect(decideNext(job(name, { ...change, interruptions: 4, attempts: 2 }))).toMatchObject({
      kind: 'settle',
      outcome: { name, message: `said ${name}; gave up after 2 attempts (max-resumes 3)` },
    })
    expect([interruptions(name, true, apiStatus), interruptions(name, false, apiStatus)]).toEqual([1, 2])
  })

  it.each([
    ['api-error', 404],
    ['auth', 401],
    ['budget', undefined],
    ['turn-limit', undefined],
    ['output-limit', undefined],
  ] as const)('settles if waiting would not help: %s %s', (name, apiStatus) => {
    expect(decideNext(job(name, apiStatus ? { apiStatus } : {})).kind).toBe('settle')
    expect(interruptions(name, false, apiStatus)).toBe(0)
  })

  it('counts every interruption of an attended run once', () => {
    const watched = { unattended: false, resumed: false, progressed: false }
    expect(countInterruptions({ name: 'crashed', message: '' }, watched)).toBe(1)
  })

  const REFUSED_HISTORY = { name: 'api-error', message: 'no', apiStatus: 400, historyRefused: true } as const

  it('a session the model refuses is tried again, because the next attempt is fresh', () => {
    expect(decideNext({ ...job('api-error', { resumed: true }), outcome: REFUSED_HISTORY }).kind).toBe(
      'retry',
    )
  })

  it.each([
    ['outage', undefined],
    ['outage', 503],
    ['outage', 529],
    ['rate-limited', 429],
  ] as const)('a limit or an outage is not counted: %s %s', (name, apiStatus) => {
    expect(interruptions(name, false, apiStatus)).toBe(0)
    expect(interruptions(name, true, apiStatus)).toBe(0)
  })

  it('the wait for an obstacle decides, unless the run was cancelled', () => {
    const wait = { kind: 'retry', afterMs: 7, why: 'away', behindObstacle: true } as const
    for (const unattended of [true, false]) {
      for (const kind of ['turn', 'compact'] as const) {
        const end = job('outage', { wait, interruptions: 99, unattended, kind, resumed: true })
        expect(decideNext(end)).toEqual(wait)
        expect(decideNext({ ...end, cancelRequested: true }).kind).toBe('settle')
      }
    }
  })
})
