/**
 * The budget of a run at a tier. One budget covers a chain with all its tiers and follow-ups, another one covers the
 * work at one tier with the follow-ups at that tier. The spend of other runs is read each time it is needed.
 */
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { spentBy } from '../accounting/allowance.ts'
import type { Allowance } from '../base/purpose.ts'

/** Returns null if there is no limit. */
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
 * What the other runs of the chain have left of the chain's budget, and the other runs at its tier of the tier's budget.
 * A chain may reach a tier more than once: by follow-ups, or because one of them escalates again.
 */
async function leftFor(
  store: Pick<Store, 'listChain'>,
  { id, links, request }: RunRecord,
  maxBudgetUsd: number,
): Promise<number> {
  const others = (await store.listChain(id)).filter((one) => one.id !== id && one.attemptCount > 0)
  const sharing = others.filter((one) => one.links.tier === links.tier)
  const leftOfChain = (request.chain?.budgetUsd ?? Number.POSITIVE_INFINITY) - spentUsd(others)
  return Math.max(0, Math.min(maxBudgetUsd - spentUsd(sharing), leftOfChain))
}

const spentUsd = (runs: readonly RunRecord[]) => spentBy(runs.map(({ spend }) => spend)).usd

/**
 * The cost of all runs of the chain; the given record replaces the stored one. Usage without a known price counts with
 * the highest cost that it can have.
 */
export async function spentByChain(store: Pick<Store, 'listChain'>, run: RunRecord): Promise<number> {
  const runs = (await store.listChain(run.id)).map((known) => (known.id === run.id ? run : known))
  return spentUsd(runs.filter(({ attemptCount }) => attemptCount > 0))
}
