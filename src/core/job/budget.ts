/** The budget of a job, over all its attempts and retries. */
import type { Usage } from '../../contract/outcome.ts'
import { priceWeight } from '../cost/pricing.ts'

export interface Budget {
  usd: number | null
  tokens: number | null
}

export interface Spent {
  /** null: not known, so only the limit of tokens can be checked. */
  usd: number | null
  tokens: number
}

/**
 * An upper bound for the cost of tokens whose price is not known, because the agent died before it reported one. It is
 * deliberately high for every agent, so that a budget does not ignore these tokens.
 */
export function costAtMost(usage: Usage): number {
  return HIGHEST_USD_PER_TOKEN * priceWeight(usage, HIGHEST_RATIOS)
}

const HIGHEST_USD_PER_TOKEN = 15 / 1_000_000
const HIGHEST_RATIOS = { output: 5, cacheWrite: 1.25, cacheRead: 0.1 }

export function remainingOf(budget: Budget, spent: Spent): Budget {
  return {
    usd: budget.usd === null ? null : budget.usd - (spent.usd ?? 0),
    tokens: budget.tokens === null ? null : budget.tokens - spent.tokens,
  }
}

/** The limit that `spent` has reached, as a message; null: none. */
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
 * Whether the budget was raised after a run reported it as used up, so that the job can continue. More than a tenth
 * must be left: agents count slightly differently from Reprise and would stop again and again for a smaller rest.
 */
export function isRaised(budget: Budget, spent: Spent): boolean {
  const left = remainingOf(budget, spent)
  const enough = (rest: number | null, of: number | null) => rest === null || of === null || rest > of / 10
  return enough(left.usd, budget.usd) && enough(left.tokens, budget.tokens)
}

const dollars = (usd: number) => `$${usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(2)}`
