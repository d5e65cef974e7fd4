/** A job's budget, and its state as derived from its run. */
import { describe, expect, it } from 'vitest'
import { OUTCOMES } from '../../src/contract/outcome.ts'
import { overBudget, remainingOf } from '../../src/core/job/budget.ts'
import { jobStateOf } from '../../src/core/job/state.ts'

describe('a budget', () => {
  it('is used up at the limit, not only beyond it', () => {
    expect(overBudget({ usd: 1, tokens: null }, { usd: 0.999, tokens: 1e9 })).toBeNull()
    expect(overBudget({ usd: 1, tokens: null }, { usd: 1, tokens: 0 })).toContain('$1.00')
    expect(overBudget({ usd: null, tokens: 100 }, { usd: 5, tokens: 99 })).toBeNull()
    expect(overBudget({ usd: null, tokens: 100 }, { usd: 5, tokens: 100 })).toContain('100 tokens')
  })

  it('in dollars cannot be checked without a known price; in tokens it can', () => {
    expect(overBudget({ usd: 1, tokens: null }, { usd: null, tokens: 1e12 })).toBeNull()
    expect(overBudget({ usd: 1, tokens: 10 }, { usd: null, tokens: 10 })).not.toBeNull()
  })

  it('without a limit is never used up', () => {
    expect(overBudget({ usd: null, tokens: null }, { usd: 1e9, tokens: 1e15 })).toBeNull()
  })

  it('leaves what was not spent', () => {
    expect(remainingOf({ usd: 2, tokens: 50 }, { usd: 0.5, tokens: 60 })).toEqual({ usd: 1.5, tokens: -10 })
    expect(remainingOf({ usd: null, tokens: null }, { usd: 1, tokens: 1 })).toEqual({
      usd: null,
      tokens: null,
    })
  })
})

describe('a job', () => {
  it('has the state of its run', () => {
    expect(jobStateOf({ at: 'queued', waits: false }).state).toBe('queued')
    expect(jobStateOf({ at: 'queued', waits: true }).state).toBe('waiting')
    expect(jobStateOf({ at: 'running' }).state).toBe('running')
  })

  it.each(OUTCOMES)('has an end for every outcome, and says what it needs if it is paused: %s', (outcome) => {
    const { state, attention } = jobStateOf({ at: 'settled', outcome })
    expect(['paused', 'completed', 'failed', 'cancelled']).toContain(state)
    expect(attention !== null).toBe(state === 'paused')
    expect(state === 'completed').toBe(outcome === 'completed')
  })
})
