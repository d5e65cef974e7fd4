/** What attempts and runs have spent, from their stored events. */
import type { EventType } from '../../contract/events.ts'
import { NO_USAGE } from '../../contract/outcome.ts'
import type { Pricing } from '../../core/cost/pricing.ts'
import { addUsage, computeSpend, type Rates, type Spend } from '../../core/cost/usage.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord, RunSpend, StoredEvent } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { toSpendEvent } from './meter.ts'
import { readRates } from './rates.ts'

export type SpendStore = Pick<Store, 'listEvents' | 'listAttempts' | 'getFact'>

const SPENDING: readonly EventType[] = ['model-call', 'turn-end', 'compaction']

/** What a run has spent, as far as its stored events tell. */
export async function readSpend(store: SpendStore, run: RunRecord, pricing: Pricing): Promise<RunSpend> {
  const events = await store.listEvents(run.id, { types: SPENDING })
  return totalOf([
    ...computeSpends(await store.listAttempts(run.id), events, {
      pricing,
      rates: await readRates(store),
    }).values(),
  ])
}

/** Newest first, so that an attempt that died before it could report is priced at what a later one reported. */
export function computeSpends(
  attempts: readonly AttemptRecord[],
  events: readonly StoredEvent[],
  { pricing, rates: known }: { pricing: Pricing; rates: Rates },
) {
  const spends = new Map<string, Spend>()
  let rates = known
  for (const { id } of attempts.toReversed()) {
    const spend = computeSpend(
      events.filter((e) => e.attemptId === id).flatMap(({ body }) => toSpendEvent(body) ?? []),
      pricing,
      rates,
    )
    rates = spend.rates
    spends.set(id, spend)
  }
  return spends
}

export function totalOf(spends: readonly Spend[]): RunSpend {
  const known = spends.every((spend) => spend.costUsd !== null)
  return {
    usage: spends.reduce((sum, spend) => addUsage(sum, spend.usage), NO_USAGE),
    costUsd: known ? spends.reduce((sum, spend) => sum + (spend.costUsd ?? 0), 0) : null,
    estimated: spends.some((spend) => spend.estimated),
    contextTokens: spends.find((spend) => spend.contextTokens !== null)?.contextTokens ?? null,
    contextWindow: spends.find((spend) => spend.contextWindow !== null)?.contextWindow ?? null,
  }
}
