/**
 * The budget that a run draws on, and what has been spent of it before the attempt that is under way. One budget holds
 * for a job or a run, its retries, its follow-ups and theirs. What others have spent is read whenever it is asked for:
 * several follow-ups may have been admitted at the same moment, so what was left at that moment says nothing.
 */
import { JobId, type RunId } from '../../contract/ids.ts'
import { type Budget, costAtMost, isRaised, type Spent } from '../../core/job/budget.ts'
import type { RunRecord, RunSpend } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Allowance } from '../base/purpose.ts'

export type AllowanceStore = Pick<Store, 'getRun' | 'getJob' | 'listSpendOf'>

/** The job, or the run without one, from which a run descends by retries and follow-ups: itself, if from none. */
export const payerOf = ({ id, links }: Pick<RunRecord, 'id' | 'links'>): JobId | RunId =>
  links.budgetOf ?? links.jobId ?? id

/** null: there is no limit. */
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

/** What has no price yet counts as much as it can have cost. */
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
 * Whether the budget was raised while an attempt ran that was stopped by what it had been given at its start. `spend` is
 * what its run has spent in all. A budget that is gone was raised; a run that never had one was stopped by something else.
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
