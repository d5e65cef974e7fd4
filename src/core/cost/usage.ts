/**
 * What an attempt used and spent, from its stored events.
 *
 * An agent's totals may be cumulative over the session, restored on resume, and lost when the process is killed. So none
 * of them is used: a process reports what it spent since its last `turn-end`, and those
 * reports add up. Model calls that no `turn-end` covers (the process died first) are counted from the calls
 * themselves, each message once, and priced at the rate the agent itself last reported for that model.
 */
import { NO_USAGE, type Usage } from '../../contract/outcome.ts'
import { type PriceRatios, priceWeight } from './pricing.ts'

export interface ModelSpend {
  model: string
  usage: Usage
  costUsd: number
  contextWindow?: number | undefined
}

/** One element per event that matters, in order. */
export type SpendEvent =
  | {
      type: 'model-call'
      messageId: string
      model?: string | undefined
      usage: Partial<Usage>
      nested: boolean
    }
  | { type: 'compaction'; postTokens?: number | undefined }
  | { type: 'turn-end'; usage?: Usage | undefined; models?: readonly ModelSpend[] | undefined }

export interface Spend {
  usage: Usage
  costUsd: number | null
  /** Some of the cost is our own computation. */
  estimated: boolean
  /** The context the next call would start from: all of the last call of the main conversation. */
  contextTokens: number | null
  contextWindow: number | null
  rates: Rates
}

/** USD per input token by model, as learned from the agent's own reports. */
export type Rates = Readonly<Record<string, number>>

export function computeSpend(events: readonly SpendEvent[], pricing: PriceRatios, known: Rates = {}): Spend {
  let usage = NO_USAGE
  let costUsd = 0
  let contextTokens: number | null = null
  let contextWindow: number | null = null
  const rates: Record<string, number> = { ...known }
  const uncovered = new Map<string, Call>()
  let mainModel = ''

  for (const event of events) {
    if (event.type === 'compaction') {
      contextTokens = event.postTokens ?? null
      continue
    }
    if (event.type === 'model-call') {
      const earlier = uncovered.get(event.messageId)
      const call = {
        model: event.model ?? earlier?.model ?? '',
        usage: { ...NO_USAGE, ...earlier?.usage, ...event.usage },
        // Only the last word about a call comes without the model's name.
        finished: earlier !== undefined && event.model === undefined,
      }
      uncovered.set(event.messageId, call)
      if (!event.nested) {
        contextTokens = totalTokens(call.usage)
        mainModel = call.model
      }
      continue
    }
    dropCovered(uncovered, event)
    for (const spend of event.models ?? []) {
      usage = addUsage(usage, spend.usage)
      costUsd += spend.costUsd
      const weight = priceWeight(spend.usage, pricing)
      if (weight > 0 && spend.costUsd > 0) rates[spend.model] = spend.costUsd / weight
      if (spend.contextWindow && spend.model === (mainModel || spend.model))
        contextWindow = spend.contextWindow
    }
    if (!event.models && event.usage) usage = addUsage(usage, event.usage)
  }

  let priced = true
  for (const call of uncovered.values()) {
    usage = addUsage(usage, call.usage)
    const rate = Object.hasOwn(rates, call.model) ? rates[call.model] : undefined
    if (rate === undefined) priced = false
    else costUsd += rate * priceWeight(call.usage, pricing)
  }
  const estimated = uncovered.size > 0
  return {
    usage,
    costUsd: estimated && !priced ? null : costUsd,
    estimated,
    contextTokens,
    contextWindow,
    rates,
  }
}

interface Call {
  model: string
  usage: Usage
  finished: boolean
}

/**
 * A turn's end covers the calls before it. But an agent may leave out a call that was cut off in the middle, although it
 * is paid for: if it reports less than the calls themselves did, the unfinished ones are still to be counted.
 */
function dropCovered(
  calls: Map<string, Call>,
  { models, usage }: Extract<SpendEvent, { type: 'turn-end' }>,
): void {
  const input = (u: Usage) => u.inputTokens + u.cacheReadTokens + u.cacheWriteTokens
  const reported = (models?.map((spend) => spend.usage) ?? (usage ? [usage] : [])).reduce(
    (n, u) => n + input(u),
    0,
  )
  const called = [...calls.values()].reduce((n, call) => n + input(call.usage), 0)
  for (const [id, call] of calls) if (reported >= called || call.finished) calls.delete(id)
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  }
}

const totalTokens = (u: Usage) => u.inputTokens + u.outputTokens + u.cacheReadTokens + u.cacheWriteTokens
