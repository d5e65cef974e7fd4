/** The decision whether the next tier takes over: every reason, and their order. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Recommendation, Signal } from '../../src/contract/escalation.ts'
import { OUTCOMES } from '../../src/contract/outcome.ts'
import { decideEscalation, type EscalationFacts } from '../../src/core/escalation/decide.ts'

const signal: Signal = {
  status: 'down',
  summary: '',
  checks: [],
  services: ['web', 'db'],
  actions: [],
  escalate: true,
  reason: 'web needs a restart',
}
const yes: Recommendation = { source: 'structured', escalate: true, signal, problem: null }
const facts: EscalationFacts = {
  outcome: { name: 'completed', message: '' },
  recommendation: yes,
  tier: 1,
  maxTier: 3,
  approval: false,
  dryRun: false,
  chain: { budgetUsd: null, spentUsd: 0 },
  exhausted: [],
}
const decide = (change: Partial<EscalationFacts> = {}) => decideEscalation({ ...facts, ...change })
const freeAt = new Date('2026-01-02T03:04:05Z')

describe('the next tier', () => {
  it('takes over if that is recommended, one tier up, for the reason given', () => {
    expect(decide()).toEqual({
      kind: 'escalate',
      toTier: 2,
      reason: 'recommended',
      message: 'web needs a restart',
    })
  })

  it('waits for a person where it needs approval; a dry run does not', () => {
    expect(decide({ approval: true })).toMatchObject({ kind: 'ask', toTier: 2, reason: 'approval-needed' })
    expect(decide({ approval: true, dryRun: true })).toMatchObject({ kind: 'escalate' })
  })

  it.each<[string, Partial<EscalationFacts>, string]>([
    ['not-recommended', { recommendation: { ...yes, escalate: false } }, 'does not recommend escalation'],
    [
      'no-recommendation',
      { recommendation: { source: 'none', escalate: null, signal: null, problem: null } },
      'gave no signal',
    ],
    [
      'no-recommendation',
      { recommendation: { source: 'block', escalate: null, signal: null, problem: 'its signal is bad' } },
      'its signal is bad',
    ],
    ['failed', { outcome: { name: 'timed-out', message: 'too long' } }, 'too long'],
    ['cancelled', { outcome: { name: 'cancelled', message: '' } }, 'cancelled'],
    ['max-tier', { tier: 3 }, 'highest'],
    ['budget', { outcome: { name: 'budget', message: 'over' } }, 'over'],
    [
      'budget',
      { chain: { budgetUsd: 1, spentUsd: 1 } },
      'the budget of $1.0000 for all tiers is used up ($1.0000 spent)',
    ],
    [
      'cooldown',
      { exhausted: ['web', 'db'].map((service) => ({ service, freeAt })) },
      'before 2026-01-02T03:04:05.000Z',
    ],
  ])('does not take over: %s', (reason, change, says) => {
    const decision = decide({ ...change, approval: true })
    expect(decision).toMatchObject({ kind: 'stop', reason })
    expect(decision.message).toContain(says)
  })

  it('takes over while an action on one of the services is still allowed', () => {
    expect(decide({ exhausted: [{ service: 'web', freeAt }] }).kind).toBe('escalate')
  })

  it('never starts without a recommendation, above the highest tier, or by more than one step', () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    console.log(`fast-check seed ${seed}`)
    const recommendation = fc.constantFrom<Recommendation>(
      yes,
      { ...yes, escalate: false },
      { source: 'none', escalate: null, signal: null, problem: null },
      { source: 'exit-code', escalate: true, signal: null, problem: null },
    )
    const any = fc.record({
      outcome: fc.constantFrom(...OUTCOMES).map((name) => ({ name, message: '' })),
      recommendation,
      tier: fc.integer({ min: 1, max: 9 }),
      maxTier: fc.integer({ min: 1, max: 9 }),
      approval: fc.boolean(),
      dryRun: fc.boolean(),
      chain: fc.record({
        budgetUsd: fc.option(fc.double({ min: 0, max: 9, noNaN: true })),
        spentUsd: fc.double({ min: 0, max: 9, noNaN: true }),
      }),
      exhausted: fc.subarray([
        { service: 'web', freeAt },
        { service: 'db', freeAt },
      ]),
    })
    fc.assert(
      fc.property(any, (f) => {
        const decision = decideEscalation(f)
        if (decision.kind === 'stop') return
        expect(f.recommendation.escalate).toBe(true)
        expect(f.outcome.name).toBe('completed')
        expect(decision.toTier).toBe(f.tier + 1)
        expect(decision.toTier).toBeLessThanOrEqual(f.maxTier)
        if (f.chain.budgetUsd !== null) expect(f.chain.spentUsd).toBeLessThan(f.chain.budgetUsd)
        expect(decision.kind).toBe(f.approval && !f.dryRun ? 'ask' : 'escalate')
      }),
      { seed },
    )
  })
})
