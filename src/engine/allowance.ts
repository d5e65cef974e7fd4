/** The budget of a run's job, and what its runs have spent of it before the attempt that is under way. */

import type { Budget, Spent } from '../core/job/budget.ts'
import type { RunRecord } from '../store/records.ts'
import type { Store } from '../store/store.ts'

/** null: there is no limit. */
export async function readAllowance(
  store: Store,
  run: RunRecord,
): Promise<{ budget: Budget; before: Spent } | null> {
  const { jobId } = run.links
  const job = jobId && (await store.getJob(jobId))
  if (!job || (job.maxBudgetUsd === null && job.maxBudgetTokens === null)) return null
  return {
    budget: { usd: job.maxBudgetUsd, tokens: job.maxBudgetTokens },
    before: spentBy(await store.listRunsOfJobs([job.id])),
  }
}

export function spentBy(runs: readonly RunRecord[]): Spent & { usd: number } {
  return {
    usd: runs.reduce((sum, run) => sum + (run.spend.costUsd ?? 0), 0),
    tokens: runs.reduce((sum, { spend: { usage: u } }) => {
      return sum + u.inputTokens + u.outputTokens + u.cacheReadTokens + u.cacheWriteTokens
    }, 0),
  }
}
