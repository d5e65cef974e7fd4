/** Measures what a running attempt has done and used so far, from its events as they arrive. */
import type { EventBody, EventType } from '../../contract/events.ts'
import type { Pricing } from '../../core/cost/pricing.ts'
import { computeSpend, type Rates, type SpendEvent } from '../../core/cost/usage.ts'

export interface Reading {
  modelCalls: number
  toolCalls: number
  tokens: number
  /** null if the price of some of the usage is not known yet. */
  costUsd: number | null
  /** How full the context was after the newest call; null: there was none. */
  contextTokens: number | null
  lastActivityAt: Date | null
  tool: string | null
}

/** The event types that a meter needs, including earlier events of the attempt. */
export const METERED: readonly EventType[] = [
  'model-call',
  'turn-end',
  'compaction',
  'memory-clear',
  'tool-start',
  'tool-end',
]

export class Meter {
  readonly #rates: Rates
  readonly #pricing: Pricing
  readonly #calls = new Set<string>()
  readonly #spent: SpendEvent[] = []
  readonly #tools = new Map<string, string>()
  #toolCalls = 0
  #lastActivityAt: Date | null = null

  constructor(rates: Rates, pricing: Pricing) {
    this.#pricing = pricing
    this.#rates = rates
  }

  note(body: EventBody, at: Date): void {
    this.#lastActivityAt = at
    if (body.type === 'tool-start') {
      this.#toolCalls++
      this.#tools.set(body.toolUseId, body.name)
    } else if (body.type === 'tool-end') {
      this.#tools.delete(body.toolUseId)
    } else {
      if (body.type === 'model-call') this.#calls.add(body.messageId)
      const spent = toSpendEvent(body)
      if (spent) this.#spent.push(spent)
    }
  }

  read(): Reading {
    const { usage, costUsd, contextTokens } = computeSpend(this.#spent, this.#pricing, this.#rates)
    return {
      modelCalls: this.#calls.size,
      toolCalls: this.#toolCalls,
      tokens: usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
      costUsd,
      contextTokens,
      lastActivityAt: this.#lastActivityAt,
      tool: [...this.#tools.values()].at(-1) ?? null,
    }
  }
}

/** Returns null for events that cost nothing. */
export function toSpendEvent(body: EventBody): SpendEvent | null {
  if (body.type === 'turn-end') return { type: 'turn-end', usage: body.usage, models: body.models }
  if (body.type === 'memory-clear') return { type: 'compaction', postTokens: 0 }
  if (body.type === 'compaction') return { type: 'compaction', postTokens: body.postTokens }
  if (body.type !== 'model-call') return null
  const { messageId, model, usage, parentToolUseId } = body
  return {
    type: 'model-call',
    messageId,
    model,
    usage: definedOnly(usage),
    nested: parentToolUseId !== undefined,
  }
}

const definedOnly = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
