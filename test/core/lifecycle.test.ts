/** Every transition of a session's lifecycle, and what holds for all of them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SESSION_LIFECYCLE, type SessionLifecycle } from '../../src/contract/session.ts'
import {
  isArchivable,
  type LifecycleFacts,
  type LifecycleTrigger,
  nextLifecycle,
} from '../../src/core/session/lifecycle.ts'
import { checkProperty } from './random.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const MINUTE = 60_000
const limits = { pauseAfterMs: 5 * MINUTE, idleTimeoutMs: 30 * MINUTE }
const look: LifecycleTrigger = { kind: 'look', limits }
const idle = (ms: number): Partial<LifecycleFacts> => ({ lastActivityAt: new Date(NOW.getTime() - ms) })

const facts = (state: SessionLifecycle, change: Partial<LifecycleFacts> = {}): LifecycleFacts => ({
  state,
  lastActivityAt: NOW,
  finished: false,
  plannedFollowUps: 0,
  inUse: false,
  ...change,
})

const finished = { finished: true }
const waiting = { finished: true, plannedFollowUps: 1 }

type Case = [
  what: string,
  from: SessionLifecycle,
  trigger: LifecycleTrigger,
  facts: Partial<LifecycleFacts>,
  to: SessionLifecycle,
]

const TRANSITIONS: Case[] = [
  ['the first message', 'created', { kind: 'message' }, {}, 'active'],
  ['a further message', 'active', { kind: 'message' }, {}, 'active'],
  ['asked for again before its first message', 'created', { kind: 'resume' }, {}, 'created'],
  ['paused, asked for again', 'paused', { kind: 'resume' }, {}, 'active'],
  ['completed, asked for again', 'completed', { kind: 'resume' }, finished, 'active'],
  ['expired, asked for again', 'expired', { kind: 'resume' }, {}, 'active'],
  ['the model ended its turn', 'active', { kind: 'turn-end' }, finished, 'completed'],
  ['the turn was cut off', 'active', { kind: 'turn-end' }, {}, 'active'],
  ['the turn ended, a follow-up is planned', 'active', { kind: 'turn-end' }, waiting, 'active'],
  ['the agent ended without a message', 'created', { kind: 'turn-end' }, {}, 'created'],
  ['a follow-up is planned in a completed one', 'completed', { kind: 'plan' }, waiting, 'paused'],
  ['its last follow-up is gone', 'active', { kind: 'plan' }, finished, 'completed'],
  ['likewise while it is paused', 'paused', { kind: 'plan' }, finished, 'completed'],
  [
    'a follow-up is gone while a process uses it',
    'active',
    { kind: 'plan' },
    { ...finished, inUse: true },
    'active',
  ],
  ['a follow-up is gone, the last turn was cut off', 'paused', { kind: 'plan' }, {}, 'paused'],
  ['idle, not for long', 'active', look, idle(5 * MINUTE), 'active'],
  ['idle', 'active', look, idle(5 * MINUTE + 1), 'paused'],
  ['idle, but a process uses it', 'active', look, { ...idle(60 * MINUTE), inUse: true }, 'active'],
  ['paused, not for long', 'paused', look, idle(30 * MINUTE), 'paused'],
  ['paused for long', 'paused', look, idle(30 * MINUTE + 1), 'expired'],
  ['paused for long, a follow-up is planned', 'paused', look, { ...idle(60 * MINUTE), ...waiting }, 'paused'],
  ['never used', 'created', look, idle(30 * MINUTE + 1), 'expired'],
  ['never used, not for long', 'created', look, idle(30 * MINUTE), 'created'],
  ['completed for long', 'completed', look, { ...idle(60 * MINUTE), ...finished }, 'completed'],
  ['expired for longer', 'expired', look, idle(24 * 60 * MINUTE), 'expired'],
]

describe('transitions', () => {
  it.each(TRANSITIONS)('%s: %s', (_, from, trigger, change, to) => {
    expect(nextLifecycle(facts(from, change), trigger, NOW)).toBe(to)
  })
})

it('only sessions that are over are archived, after the idle time', () => {
  const archivable = (state: SessionLifecycle, ms: number, inUse = false) =>
    isArchivable({ ...facts(state, idle(ms)), inUse }, limits, NOW)
  expect(SESSION_LIFECYCLE.filter((state) => archivable(state, 31 * MINUTE))).toEqual([
    'completed',
    'expired',
  ])
  expect(SESSION_LIFECYCLE.filter((state) => archivable(state, 30 * MINUTE))).toEqual([])
  expect(SESSION_LIFECYCLE.filter((state) => archivable(state, 31 * MINUTE, true))).toEqual([])
})

const factsArbitrary = fc.record({
  state: fc.constantFrom(...SESSION_LIFECYCLE),
  lastActivityAt: fc.integer({ min: 0, max: 120 * MINUTE }).map((ms) => new Date(NOW.getTime() - ms)),
  finished: fc.boolean(),
  plannedFollowUps: fc.integer({ min: 0, max: 2 }),
  inUse: fc.boolean(),
})
const triggerArbitrary = fc.constantFrom<LifecycleTrigger>(
  ...(['message', 'resume', 'turn-end', 'plan'] as const).map((kind) => ({ kind })),
  look,
)

const ALLOWED: Record<SessionLifecycle, readonly SessionLifecycle[]> = {
  created: ['active', 'expired'],
  active: ['paused', 'completed'],
  paused: ['active', 'completed', 'expired'],
  completed: ['active', 'paused'],
  expired: ['active', 'completed'],
}

describe('whatever the facts', () => {
  it('only the listed transitions happen', () => {
    checkProperty(
      fc.property(factsArbitrary, triggerArbitrary, (before, trigger) => {
        const after = nextLifecycle(before, trigger, NOW)
        expect([before.state, ...ALLOWED[before.state]]).toContain(after)
      }),
    )
  })

  it('looking comes to rest, and never moves a session that is in use or waits for a follow-up out of reach', () => {
    checkProperty(
      fc.property(factsArbitrary, (before) => {
        let state = before.state
        for (let steps = 0; steps < 3; steps++) state = nextLifecycle({ ...before, state }, look, NOW)
        expect(nextLifecycle({ ...before, state }, look, NOW)).toBe(state)
        if (before.inUse) expect(state).toBe(before.state)
        else if (before.plannedFollowUps > 0 && before.state !== 'created' && before.state !== 'expired') {
          expect(['active', 'paused']).toContain(state)
        }
      }),
    )
  })

  it('a later look never leads back to a livelier state', () => {
    const rank: Record<SessionLifecycle, number> = {
      created: 0,
      active: 0,
      paused: 1,
      completed: 2,
      expired: 2,
    }
    checkProperty(
      fc.property(factsArbitrary, fc.integer({ min: 0, max: 120 * MINUTE }), (before, ms) => {
        if (before.plannedFollowUps > 0 && before.state === 'completed') return
        const after = nextLifecycle(before, look, new Date(NOW.getTime() + ms))
        expect(rank[after]).toBeGreaterThanOrEqual(rank[before.state])
      }),
    )
  })
})
