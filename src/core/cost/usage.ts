/**
 * Computes the usage and cost of an attempt from its stored events.
 *
 * An agent's totals may be cumulative over the session, restored on resume, and lost when the process is killed, so
 * they are not used. Instead each `turn-end` reports what the process spent since the last one, and these reports are
 * added up. Model calls that no `turn-end` covers (because the process died first) are counted from the calls
 * themselves, each message once, and priced at the rate that the agent last reported for that model. If such a call was
 * cut off, its output is estimated from the text that was streamed.
 */
import { NO_USAGE, type Usage } from '../../contract/outcome.ts'
import { type PriceRatios, priceWeight } from './pricing.ts'

export interface ModelSpend {
  model: string
  usage: Usage
  costUsd: number
  contextWindow?: number | undefined
}

/** The events that matter for the cost, in order. */
export type SpendEvent =
  | {
      type: 'model-call'
      messageId: string
      model?: string | undefined
      usage: Partial<Usage>
      nested: boolean
    }
  /** Output that the most recent call streamed. */
  | { type: 'output'; chars: number; nested: boolean }
  | { type: 'compaction'; postTokens?: number | undefined }
  | { type: 'turn-end'; usage?: Usage | undefined; models?: readonly ModelSpend[] | undefined }

export interface Spend {
  usage: Usage
  costUsd: number | null
  /** Part of the cost was computed by Reprise. */
  estimated: boolean
  /** The context that the next call would start from: all tokens of the last call of the main conversation. */
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
  /** Turns for which the agent reported tokens without a price. */
  const unpriced: Pick<Call, 'model' | 'usage'>[] = []
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
        // Only the final report about a call comes without the model's name.
        finished: earlier !== undefined && event.model === undefined,
        nested: event.nested,
        streamedChars: earlier?.streamedChars ?? 0,
      }
      uncovered.set(event.messageId, call)
      if (!event.nested) {
        contextTokens = totalTokens(call.usage)
        mainModel = call.model
      }
      continue
    }
    if (event.type === 'output') {
      const call = [...uncovered.values()].findLast(({ nested }) => nested === event.nested)
      if (call) call.streamedChars += event.chars
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
    if (!event.models && event.usage && totalTokens(event.usage) > 0)
      unpriced.push({ model: mainModel, usage: event.usage })
  }

  let priced = true
  const open = [...uncovered.values()].map((call) => ({ ...call, usage: withStreamedOutput(call) }))
  for (const call of [...open, ...unpriced]) {
    usage = addUsage(usage, call.usage)
    const rate = Object.hasOwn(rates, call.model) ? rates[call.model] : undefined
    if (rate === undefined) priced = false
    else costUsd += rate * priceWeight(call.usage, pricing)
  }
  const estimated = open.length + unpriced.length > 0
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
  nested: boolean
  streamedChars: number
}

const CHARS_PER_TOKEN = 4

/** A call reports its output tokens only at its end; before that they are estimated from the streamed text. */
function withStreamedOutput({ usage, finished, streamedChars }: Call): Usage {
  if (finished) return usage
  return {
    ...usage,
    outputTokens: Math.max(usage.outputTokens, Math.ceil(streamedChars / CHARS_PER_TOKEN)),
  }
}

/**
 * The total cost of several attempts or runs; null: the price of one of them is not known. An attempt without tokens
 * costs nothing.
 */
export function sumCosts(spends: readonly Pick<Spend, 'usage' | 'costUsd'>[]): number | null {
  return spends.reduce<number | null>((sum, { usage, costUsd }) => {
    const cost = totalTokens(usage) === 0 ? (costUsd ?? 0) : costUsd
    return sum === null || cost === null ? null : sum + cost
  }, 0)
}

/**
 * A `turn-end` covers the calls before it. But an agent may leave out a call that was cut off, although that call is
 * paid for: if the report is smaller than the sum of the calls, the unfinished calls stay in the list and are counted.
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
