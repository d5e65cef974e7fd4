/** Limits and outages: what opens them, which runs wait and for how long, which run probes them. */
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/contract/outcome.ts'
import {
  type Met,
  meet,
  metIn,
  type Obstacle,
  type ObstacleWithProbe,
  reasonToGiveUp,
} from '../../src/core/obstacle/obstacle.ts'
import { decidePassage, spreadStarts } from '../../src/core/obstacle/passage.ts'
import { decidePatience, type Patience } from '../../src/core/obstacle/patience.ts'
import { decideWait, type WaitFacts } from '../../src/core/obstacle/wait.ts'
import { decideRoom } from '../../src/core/room/decide.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const HOUR = 3_600_000
const at = (ms: number) => new Date(NOW.getTime() + ms)
const LIMIT = 24 * HOUR
const PAUSES = { backoffMs: 30_000, jitter: 0 }
const away: Met = { kind: 'outage', scope: 'account', message: 'refused', resetsAt: null }
const attempt = (id: string, startedMs: number) => ({
  id,
  account: 'acc',
  model: 'haiku',
  startedAt: at(startedMs),
})
const open = (change: Partial<ObstacleWithProbe> = {}): ObstacleWithProbe => ({
  ...meet(null, away, attempt('a', -1000), PAUSES, NOW),
  probe: null,
  ...change,
})

describe('what an attempt met', () => {
  const outcome = (name: Outcome['name'], more: Partial<Outcome> = {}): Outcome => ({
    name,
    message: 'm',
    ...more,
  })

  it.each([
    [outcome('outage', { scope: 'account' }), { kind: 'outage', scope: 'account' }],
    [outcome('outage', { scope: 'model', apiStatus: 529 }), { kind: 'outage', scope: 'model' }],
    [outcome('rate-limited', { apiStatus: 429 }), { kind: 'limit', scope: 'model', resetsAt: null }],
    [
      outcome('rate-limited', { scope: 'account', resetsAt: NOW.toISOString() }),
      { kind: 'limit', scope: 'account', resetsAt: NOW },
    ],
  ])('%j', (said, met) => {
    expect(metIn(said)).toMatchObject(met)
  })

  it.each(['completed', 'crashed', 'auth', 'api-error', 'timed-out'] as const)('not by %s', (name) => {
    expect(metIn(outcome(name))).toBeNull()
  })
})

describe('an obstacle', () => {
  it('is tried again after pauses that grow to a quarter of an hour', () => {
    let now = NOW
    let obstacle: Obstacle | null = null
    const pauses: number[] = []
    for (let n = 1; n <= 8; n++) {
      const probe = { ...attempt(`a${n}`, 0), startedAt: now }
      obstacle = meet(obstacle, away, probe, PAUSES, now)
      pauses.push((obstacle.nextTryAt.getTime() - now.getTime()) / 1000)
      now = obstacle.nextTryAt
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 900, 900, 900])
    expect(obstacle).toMatchObject({ failures: 8, since: NOW })
  })

  it('is counted once for attempts at the same time, and if settling is repeated', () => {
    const first = meet(null, away, attempt('a', -9000), PAUSES, NOW)
    expect(meet(first, away, attempt('b', -8000), PAUSES, at(100))).toBe(first)
    const again = meet(first, away, attempt('c', 30_000), PAUSES, at(31_000))
    expect(again).toMatchObject({ failures: 2, since: NOW, nextTryAt: at(91_000) })
    expect(meet(again, away, attempt('c', 30_000), PAUSES, at(32_000))).toBe(again)
  })

  it('that is a limit is tried when it resets; after a reset that did not help there is a pause', () => {
    const limit: Met = { kind: 'limit', scope: 'account', message: 'used up', resetsAt: at(3 * HOUR) }
    const first = meet(null, limit, attempt('a', -1000), PAUSES, NOW)
    expect(first.nextTryAt).toEqual(at(3 * HOUR + 500))
    const later = at(3 * HOUR + 1000)
    const second = meet(first, limit, { ...attempt('b', 0), startedAt: later }, PAUSES, later)
    expect(second.nextTryAt).toEqual(at(3 * HOUR + 61_000))
  })

  it('that is a limit whose reset has passed is tried in a moment, not at once', () => {
    const limit: Met = { kind: 'limit', scope: 'account', message: 'used up', resetsAt: at(-HOUR) }
    expect(meet(null, limit, attempt('a', -1000), PAUSES, NOW).nextTryAt).toEqual(at(500))
  })

  it('is about one model where that is said', () => {
    expect(meet(null, away, attempt('a', 0), PAUSES, NOW).model).toBeNull()
    expect(meet(null, { ...away, scope: 'model' }, attempt('a', 0), PAUSES, NOW).model).toBe('haiku')
  })

  it('is waited for up to the limit, counted for each run from the time when it could wait', () => {
    expect(reasonToGiveUp(open(), at(-HOUR), LIMIT, at(LIMIT - 1))).toBeNull()
    expect(reasonToGiveUp(open(), at(-HOUR), LIMIT, at(LIMIT))).toContain('gave up after waiting 1d')
    expect(reasonToGiveUp(open(), at(20 * HOUR), LIMIT, at(LIMIT))).toBeNull()
  })

  it('with a reset time is waited for until then, but at most eight days', () => {
    const limit = (resetsAt: Date) => open({ kind: 'limit', resetsAt })
    expect(reasonToGiveUp(limit(at(7 * LIMIT)), at(-HOUR), LIMIT, at(2 * LIMIT))).toBeNull()
    expect(reasonToGiveUp(limit(at(9 * LIMIT)), at(-HOUR), LIMIT, NOW)).toContain(
      'waits at most 8d for a reset',
    )
    expect(reasonToGiveUp(limit(at(-1)), at(-HOUR), LIMIT, at(LIMIT))).toContain('gave up after waiting')
  })
})

describe('a run that is due', () => {
  const passing = (ms: number) => ({
    runId: 'run_b',
    waitingSince: NOW,
    continued: false,
    limitMs: LIMIT,
    now: at(ms),
  })

  it('starts if there is no obstacle', () => {
    expect(decidePassage([], passing(0))).toEqual({ kind: 'go', tries: [] })
  })

  it('waits until the next try, and says behind what and until when', () => {
    const passage = decidePassage([open()], passing(0))
    expect(passage).toMatchObject({ kind: 'wait', until: at(30_000) })
    expect(passage).toHaveProperty(
      'why',
      expect.stringContaining('outage since 2026-03-01T12:00:00.000Z: refused'),
    )
    expect(passage).toHaveProperty('why', expect.stringContaining('next try at 2026-03-01T12:00:30.000Z'))
  })

  it('becomes the probe once a try is due and no other run probes', () => {
    const obstacle = open()
    expect(decidePassage([obstacle], passing(30_000))).toEqual({ kind: 'go', tries: [obstacle] })
    const own = open({ probe: 'run_b' })
    expect(decidePassage([own], passing(30_000))).toEqual({ kind: 'go', tries: [own] })
  })

  it('waits while another run probes, and checks again soon', () => {
    const passage = decidePassage([open({ probe: 'run_a' })], passing(30_000))
    expect(passage).toMatchObject({ kind: 'wait', until: at(45_000) })
    expect(passage).toHaveProperty('why', expect.stringContaining('run run_a is testing'))
  })

  it('waits for the last of several', () => {
    const model = open({ model: 'haiku', nextTryAt: at(90_000) })
    expect(decidePassage([open(), model], passing(40_000))).toMatchObject({ kind: 'wait', until: at(90_000) })
    expect(decidePassage([open(), model], passing(90_000))).toMatchObject({ kind: 'go' })
  })

  it('is not made to wait for longer than the limit', () => {
    const late = open({ nextTryAt: at(LIMIT + 60_000) })
    expect(decidePassage([late], passing(LIMIT))).toMatchObject({ kind: 'give-up' })
  })

  it('starts in its turn when the obstacle is gone: not all at once, but soon', () => {
    expect(spreadStarts(3, NOW)).toEqual([at(0), at(250), at(500)])
    expect(spreadStarts(1000, NOW).at(-1)?.getTime()).toBeLessThanOrEqual(at(60_000).getTime())
  })
})

describe('the run whose attempt met it', () => {
  const facts = (change: Partial<WaitFacts> = {}): WaitFacts => ({
    runId: 'run_b',
    isJob: true,
    met: away,
    obstacle: open(),
    createdAt: at(-HOUR),
    withoutProgress: 1,
    withoutProgressSince: at(-1000),
    limitMs: LIMIT,
    backoffMs: 30_000,
    setUp: null,
    now: NOW,
    ...change,
  })

  it('waits behind it like all others', () => {
    expect(decideWait(facts())).toMatchObject({ kind: 'retry', afterMs: 30_000, behindObstacle: true })
  })

  it('waits by itself, longer each time, if the requests of others are answered', () => {
    const wait = (withoutProgress: number) => decideWait(facts({ obstacle: null, withoutProgress }))
    expect([1, 2, 3, 9].map(wait)).toMatchObject(
      [30_000, 60_000, 120_000, 900_000].map((afterMs) => ({
        kind: 'retry',
        afterMs,
        behindObstacle: false,
      })),
    )
    expect(decideWait(facts({ withoutProgress: 5 }))).toMatchObject({
      afterMs: 480_000,
      behindObstacle: false,
    })
  })

  it('waits for a reset, whatever its own pauses would be', () => {
    const obstacle = open({ kind: 'limit', resetsAt: at(3000), nextTryAt: at(3500) })
    const met = { ...away, kind: 'limit' as const, resetsAt: at(3000) }
    const next = decideWait(facts({ obstacle, met, withoutProgress: 9 }))
    expect(next).toMatchObject({ kind: 'retry', afterMs: 3500, behindObstacle: true })
  })

  it('is paused for a person when it has waited too long: a job by its outcome, any other run as it is', () => {
    const now = at(LIMIT)
    const vain = { now, obstacle: open() }
    expect(decideWait(facts(vain))).toMatchObject({ kind: 'settle', outcome: { name: 'outage' } })
    expect(decideWait(facts({ ...vain, isJob: false }))).toMatchObject({
      kind: 'pause',
      why: expect.stringContaining('reprise runs continue run_b'),
    })
    const alone = { now, obstacle: null, withoutProgressSince: NOW }
    expect(decideWait(facts(alone))).toMatchObject({ kind: 'settle' })
    expect(decideWait(facts({ ...alone, withoutProgressSince: at(1) }))).toMatchObject({ kind: 'retry' })
  })

  it('says that the configuration is probably wrong if nothing was ever answered', () => {
    const next = decideWait(facts({ setUp: 'probably a mistake' }))
    expect(next).toHaveProperty('why', expect.stringMatching(/^probably a mistake\. outage/))
  })
})

describe('an agent that tries again by itself', () => {
  const patience = (change: Partial<Patience['retry']>, rest: Partial<Patience> = {}) =>
    decidePatience({
      retry: { type: 'retry-wait', number: 1, delayMs: 500, why: 'outage', ...change },
      triedForMs: 0,
      holdMs: 30_000,
      fewRetries: false,
      ...rest,
    })?.cause ?? null

  it('may continue for a short while', () => {
    expect([patience({}), patience({ number: 3 }), patience({ why: 'rate-limited' })]).toEqual([
      null,
      null,
      null,
    ])
  })

  it('is stopped when it would wait, or has tried, for too long', () => {
    expect(patience({ delayMs: 31_000 })).toBe('outage')
    expect(patience({ apiStatus: 503 }, { triedForMs: 29_800 })).toBe('outage')
    expect(patience({ why: 'rate-limited', delayMs: 31_000 })).toBe('rate-limited')
  })

  it('is stopped within seconds when it probes an obstacle, or if nothing ever worked', () => {
    const short = { fewRetries: true }
    expect([patience({}, short), patience({ number: 2 }, short)]).toEqual([null, 'outage'])
  })

  it('is stopped when its login is refused repeatedly; other errors are left to the agent', () => {
    expect([1, 2, 3].map((number) => patience({ why: 'auth', number }))).toEqual([null, null, 'unauthorized'])
    expect(patience({ why: undefined, delayMs: 90_000 })).toBeNull()
  })
})

it('a compaction that met an outage says nothing about the session: it is compacted again', () => {
  const turn = { kind: 'turn', resumed: true, outcome: 'context-overflow' } as const
  const compact = { kind: 'compact', resumed: true } as const
  expect(decideRoom([turn, { ...compact, outcome: 'outage' }])).toEqual({ kind: 'overflowed' })
  expect(decideRoom([turn, { ...compact, outcome: 'api-error' }])).toEqual({ kind: 'full' })
})
