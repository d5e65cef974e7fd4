/** What a job may still spend, over all its attempts and retries. */
export interface Budget {
  usd: number | null
  tokens: number | null
}

export interface Spent {
  /** null: not known; then only tokens can be held to a limit. */
  usd: number | null
  tokens: number
}

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

const dollars = (usd: number) => `$${usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(2)}`
