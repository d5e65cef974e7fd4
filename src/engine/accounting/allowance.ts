/**
 * The budget of a run, and what was spent of it before the current attempt. One budget covers a job or a run, its
 * retries, its follow-ups and their follow-ups. The spend of other runs is read each time it is needed: several
 * follow-ups may be admitted at the same moment, so the remainder at admission would be wrong.
 */
import { JobId, type RunId } from '../../contract/ids.ts'
import { type Budget, costAtMost, isRaised, type Spent } from '../../core/job/budget.ts'
import type { RunRecord, RunSpend } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Allowance } from '../base/purpose.ts'

export type AllowanceStore = Pick<Store, 'getRun' | 'getJob' | 'listSpendOf'>

/** The job or plain run at the root of a run's retries and follow-ups; the run itself if there is none. */
export const payerOf = ({ id, links }: Pick<RunRecord, 'id' | 'links'>): JobId | RunId =>
  links.budgetOf ?? links.jobId ?? id

/** Returns null if there is no limit. */
export async function readPayersAllowance(
  store: AllowanceStore,
  payer: JobId | RunId,
): Promise<Allowance | null> {
  const budget = await budgetOf(store, payer)
  if (!budget || (budget.usd === null && budget.tokens === null)) return null
  return { budget, before: spentBy(await store.listSpendOf(payer)) }
}

async function budgetOf(store: AllowanceStore, payer: JobId | RunId): Promise<Budget | null> {
  if (JobId.is(payer)) {
    const job = await store.getJob(payer)
    return job && { usd: job.maxBudgetUsd, tokens: job.maxBudgetTokens }
  }
  const run = await store.getRun(payer)
  return run && { usd: run.request.maxBudgetUsd, tokens: null }
}

/** The total spend. Usage without a known price counts with the highest cost that it can have. */
export function spentBy(
  spends: readonly Pick<RunRecord['spend'], 'usage' | 'costUsd'>[],
): Spent & { usd: number } {
  return {
    usd: spends.reduce((sum, { costUsd, usage }) => sum + (costUsd ?? costAtMost(usage)), 0),
    tokens: spends.reduce((sum, { usage: u }) => {
      return sum + u.inputTokens + u.outputTokens + u.cacheReadTokens + u.cacheWriteTokens
    }, 0),
  }
}

/**
 * Whether the budget was raised while an attempt ran that was stopped by the limit it started with. `spend` is the
 * total spend of its run. A removed budget counts as raised; a run that never had a budget was stopped by something
 * else.
 */
export function wasRaised(
  run: Pick<RunRecord, 'attemptCount' | 'spend'>,
  spend: RunSpend,
  allowance: Allowance | null,
  { canBeRaised }: { canBeRaised: boolean },
): boolean {
  if (allowance === null) return canBeRaised
  const [now, then] = [spentBy([spend]), spentBy(run.attemptCount > 0 ? [run.spend] : [])]
  const { usd, tokens } = allowance.before
  return isRaised(allowance.budget, {
    usd: usd + now.usd - then.usd,
    tokens: tokens + now.tokens - then.tokens,
  })
}
