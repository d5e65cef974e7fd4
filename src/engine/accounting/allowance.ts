/**
 * The budget that a run draws on, and what has been spent of it before the attempt that is under way. One budget holds
 * for a job or a run, its retries, its follow-ups and theirs; for a chain with all of its tiers and follow-ups; and for
 * the work at a tier with the follow-ups at that tier. What others have spent is read whenever it is asked for: several
 * follow-ups may have been admitted at the same moment, so what was left at that moment says nothing.
 */
import { JobId, type RunId } from '../../contract/ids.ts'
import { type Budget, costAtMost, isRaised, type Spent } from '../../core/job/budget.ts'
import type { RunRecord, RunSpend } from '../../store/base/records.ts'
import type { Store } from '../../store/store.ts'

/** null: there is no limit. */
export async function readAllowance(
  store: Store,
  run: RunRecord,
): Promise<{ budget: Budget; before: Spent & { usd: number } } | null> {
  const { tier } = run.links
  if (tier !== null && run.request.maxBudgetUsd !== null) {
    const before = spentBy(run.attemptCount > 0 ? [run.spend] : [])
    return {
      budget: { usd: await leftForTierRun(store, run, run.request.maxBudgetUsd), tokens: null },
      before,
    }
  }
  const payer = payerOf(run)
  const budget = await budgetOf(store, payer)
  if (!budget || (budget.usd === null && budget.tokens === null)) return null
  return { budget, before: spentBy(await store.listSpendOf(payer)) }
}

/** The job, or the run without one, from which it descends by retries and follow-ups: itself, if from none. */
export const payerOf = ({ id, links }: Pick<RunRecord, 'id' | 'links'>): JobId | RunId =>
  links.budgetOf ?? links.jobId ?? id

async function budgetOf(store: Store, payer: JobId | RunId): Promise<Budget | null> {
  if (JobId.is(payer)) {
    const job = await store.getJob(payer)
    return job && { usd: job.maxBudgetUsd, tokens: job.maxBudgetTokens }
  }
  const run = await store.getRun(payer)
  return run && { usd: run.request.maxBudgetUsd, tokens: null }
}

/**
 * What the other runs of its chain leave by now of the chain's budget and, where a follow-up draws on the budget of its
 * tier, what those at the same tier leave of that.
 */
async function leftForTierRun(
  store: Store,
  { id, links, request }: RunRecord,
  maxBudgetUsd: number,
): Promise<number> {
  const others = (await store.listChain(id)).filter((one) => one.id !== id && one.attemptCount > 0)
  const spentUsd = (runs: readonly RunRecord[]) => spentBy(runs.map(({ spend }) => spend)).usd
  const sharing = links.followUpId === null ? [] : others.filter((one) => one.links.tier === links.tier)
  const leftOfChain = (request.chain?.budgetUsd ?? Number.POSITIVE_INFINITY) - spentUsd(others)
  return Math.max(0, Math.min(maxBudgetUsd - spentUsd(sharing), leftOfChain))
}

/** Nobody watches it: what passes by itself is waited for. */
export const isUnattended = ({ links }: Pick<RunRecord, 'links'>) =>
  links.jobId !== null || links.tier !== null

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

/** While an attempt ran that was stopped by what it had been given at its start. `spend`: of its run, all included. */
export async function wasRaised(store: Store, run: RunRecord, spend: RunSpend): Promise<boolean> {
  const allowance = await readAllowance(store, run)
  if (allowance === null) return run.links.jobId !== null
  const [now, then] = [spentBy([spend]), spentBy(run.attemptCount > 0 ? [run.spend] : [])]
  const { usd, tokens } = allowance.before
  return isRaised(allowance.budget, {
    usd: usd + now.usd - then.usd,
    tokens: tokens + now.tokens - then.tokens,
  })
}
