/** What a job may still spend, over all its attempts and retries. */
import type { Usage } from '../../contract/outcome.ts'
import { priceWeight } from '../cost/pricing.ts'

export interface Budget {
  usd: number | null
  tokens: number | null
}

export interface Spent {
  /** null: not known; then only tokens can be held to a limit. */
  usd: number | null
  tokens: number
}

/**
 * What tokens cost at most whose price is not known yet, because their agent died before it reported one. Deliberately
 * high, whichever agent it is, so that a budget is not blind to them.
 */
export function costAtMost(usage: Usage): number {
  return HIGHEST_USD_PER_TOKEN * priceWeight(usage, HIGHEST_RATIOS)
}

const HIGHEST_USD_PER_TOKEN = 15 / 1_000_000
const HIGHEST_RATIOS = { output: 5, cacheWrite: 1.25, cacheRead: 0.1 }

/** What is left of it. */
export function remainingOf(budget: Budget, spent: Spent): Budget {
  return {
    usd: budget.usd === null ? null : budget.usd - (spent.usd ?? 0),
    tokens: budget.tokens === null ? null : budget.tokens - spent.tokens,
  }
}

/** Says which limit `spent` has reached, or null. */
export function overBudget(budget: Budget, spent: Spent): string | null {
  if (budget.usd !== null && spent.usd !== null && spent.usd >= budget.usd) {
    return `the budget of ${dollars(budget.usd)} is used up (${dollars(spent.usd)} spent)`
  }
  if (budget.tokens !== null && spent.tokens >= budget.tokens) {
    return `the budget of ${budget.tokens} tokens is used up (${spent.tokens} used)`
  }
  return null
}

/**
 * There is enough left to go on by itself after somebody said it was used up: it must have been raised. A little is not
 * enough, for those who count differently would stop it again and again.
 */
export function isRaised(budget: Budget, spent: Spent): boolean {
  const left = remainingOf(budget, spent)
  const enough = (rest: number | null, of: number | null) => rest === null || of === null || rest > of / 10
  return enough(left.usd, budget.usd) && enough(left.tokens, budget.tokens)
}

const dollars = (usd: number) => `$${usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(2)}`
