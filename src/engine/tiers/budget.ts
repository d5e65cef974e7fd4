/**
 * The budget of a run at a tier. One budget holds for a chain with all of its tiers and follow-ups, and one for the work at
 * a tier with the follow-ups at that tier. What others have spent is read whenever it is asked for.
 */
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { spentBy } from '../accounting/allowance.ts'
import type { Allowance } from '../base/purpose.ts'

/** null: there is no limit. */
export async function readTierAllowance(
  store: Pick<Store, 'listChain'>,
  run: RunRecord,
): Promise<Allowance | null> {
  const { maxBudgetUsd } = run.request
  if (maxBudgetUsd === null) return null
  const before = spentBy(run.attemptCount > 0 ? [run.spend] : [])
  return { budget: { usd: await leftFor(store, run, maxBudgetUsd), tokens: null }, before }
}

/**
 * What the other runs of the chain leave by now of the chain's budget and, where a follow-up draws on the budget of its
 * tier, what those at the same tier leave of that.
 */
async function leftFor(
  store: Pick<Store, 'listChain'>,
  { id, links, request }: RunRecord,
  maxBudgetUsd: number,
): Promise<number> {
  const others = (await store.listChain(id)).filter((one) => one.id !== id && one.attemptCount > 0)
  const sharing = links.followUpId === null ? [] : others.filter((one) => one.links.tier === links.tier)
  const leftOfChain = (request.chain?.budgetUsd ?? Number.POSITIVE_INFINITY) - spentUsd(others)
  return Math.max(0, Math.min(maxBudgetUsd - spentUsd(sharing), leftOfChain))
}

const spentUsd = (runs: readonly RunRecord[]) => spentBy(runs.map(({ spend }) => spend)).usd

/** What all runs of the chain have cost, this one as it is given. What has no price counts as much as it can have cost. */
export async function spentByChain(store: Pick<Store, 'listChain'>, run: RunRecord): Promise<number> {
  const runs = (await store.listChain(run.id)).map((known) => (known.id === run.id ? run : known))
  return spentUsd(runs.filter(({ attemptCount }) => attemptCount > 0))
}
