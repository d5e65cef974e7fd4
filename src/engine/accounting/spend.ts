/**
 * The only place where spend is computed. The spend of an attempt is computed from its stored events when it ends, and
 * stored with it; it does not change afterwards. A run costs the sum of its attempts, a session the sum of the attempts
 * in it.
 *
 * An attempt that died before the price of its model was known is stored without a cost. The cost is added once, as
 * soon as an agent reports the price in any run.
 */
import type { AgentRegistry } from '../../agents/registry.ts'
import type { EventType } from '../../contract/events.ts'
import { NO_USAGE } from '../../contract/outcome.ts'
import type { Pricing } from '../../core/cost/pricing.ts'
import {
  addUsage,
  computeSpend,
  type Rates,
  type Spend,
  type SpendEvent,
  sumCosts,
} from '../../core/cost/usage.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord, RunSpend, StoredEvent } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { scanEvents } from '../base/events.ts'
import type { Persist } from '../base/persist.ts'
import { toSpendEvent } from './meter.ts'
import { noteRates, readRates } from './rates.ts'

export interface SpendDeps {
  store: Pick<
    Store,
    'getRun' | 'listEvents' | 'listAttempts' | 'listUnpriced' | 'priceAttempt' | 'getFact' | 'putFact'
  >
  agents: Pick<AgentRegistry, 'likelyAdapter'>
  persist: Persist
}

const SPENDING: readonly EventType[] = ['model-call', 'turn-end', 'compaction', 'memory-clear']
const STREAMED: readonly EventType[] = ['text-delta', 'thinking-delta', 'tool-input-delta']

/** Computes the spend of an attempt that ends now, and the total of its run. Idempotent. */
export async function settleSpend(
  deps: SpendDeps,
  run: RunRecord,
  attempt: AttemptRecord,
): Promise<{ own: Spend; total: RunSpend }> {
  const { store, persist } = deps
  const pricing = pricingOf(deps, run)
  const known = await readRates(store)
  const own = await spendOf(store, attempt, pricing, known)
  const learnt = Object.keys(own.rates).some((model) => !Object.hasOwn(known, model))
  const unpriced = learnt
    ? await store.listUnpriced()
    : (await store.listAttempts(run.id)).filter(({ state, costUsd }) => state === 'ended' && costUsd === null)
  for (const other of unpriced) {
    const otherRun = other.runId === run.id ? run : ((await store.getRun(other.runId)) ?? run)
    const { costUsd } = await spendOf(store, other, pricingOf(deps, otherRun), own.rates)
    if (costUsd !== null) await persist(() => store.priceAttempt(other, costUsd))
  }
  // The price is stored last: if the daemon dies before, the repetition finds it to be new again.
  await noteRates(store, known, own.rates)
  const others = (await store.listAttempts(run.id)).filter(({ id }) => id !== attempt.id)
  const spends = await Promise.all(
    others.map(async (other) => ({
      ...(await spendOf(store, other, pricing, own.rates)),
      costUsd: other.costUsd,
    })),
  )
  return { own, total: totalOf([own, ...spends.toReversed()]) }
}

const pricingOf = ({ agents }: SpendDeps, run: RunRecord) => agents.likelyAdapter(run.agent).pricing

async function spendOf(
  store: EventStore,
  attempt: AttemptRecord,
  pricing: Pricing,
  rates: Rates,
): Promise<Spend> {
  const { id: attemptId, runId } = attempt
  const events = await store.listEvents(runId, { attemptId, types: SPENDING })
  const spent = events.flatMap(({ body }) => toSpendEvent(body) ?? [])
  return computeSpend([...spent, ...(await readOutputOfOpenCall(store, attempt, events))], pricing, rates)
}

type EventStore = Pick<Store, 'listEvents'>

/** The size of what the last model call had streamed, if the call was cut off. */
async function readOutputOfOpenCall(
  store: EventStore,
  { id: attemptId, runId }: AttemptRecord,
  events: readonly StoredEvent[],
): Promise<SpendEvent[]> {
  const last = events.at(-1)
  if (last?.body.type !== 'model-call') return []
  const { messageId } = last.body
  const call = events.filter(({ body }) => body.type === 'model-call' && body.messageId === messageId)
  // Only the final event of a call has no model name, so this call is complete.
  if (call.length > 1 && last.body.model === undefined) return []
  const nested = last.body.parentToolUseId !== undefined
  let chars = 0
  await scanEvents(store, runId, { attemptId, types: STREAMED, afterSeq: call[0]?.seq ?? 0 }, ({ body }) => {
    if ('text' in body && 'parentToolUseId' in body === nested) chars += body.text?.length ?? 0
  })
  return chars > 0 ? [{ type: 'output', chars, nested }] : []
}

/** Expects the newest spend first. */
function totalOf(spends: readonly Spend[]): RunSpend {
  return {
    usage: spends.reduce((sum, spend) => addUsage(sum, spend.usage), NO_USAGE),
    costUsd: sumCosts(spends),
    estimated: spends.some((spend) => spend.estimated),
    contextTokens: spends.find((spend) => spend.contextTokens !== null)?.contextTokens ?? null,
    contextWindow: spends.find((spend) => spend.contextWindow !== null)?.contextWindow ?? null,
  }
}
