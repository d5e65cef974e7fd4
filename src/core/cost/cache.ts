/**
 * Compares what a resumed turn should have read from the prompt cache with what it did read.
 *
 * A request of a resumed session begins with the content of the session's last request. So the tokens that were in the
 * cache after that request (read and written) are those that the first request of the next turn should read. If it
 * reads clearly less, the rest was written again, at a much higher price. The first of these that differs is reported
 * as the cause: the model, the version of the agent, its tools, the time since the last use; otherwise the cause is
 * unknown. After a compaction, or after the agent's memory was cleared, the history is a different one and no reads
 * are expected.
 *
 * The saving by resuming is measured against a new session that is given the history as text: such a session reads the
 * agent's own instructions from the cache, writes the history, and every further call of the turn then reads that
 * context. The work that an agent in a new session would have to repeat is not counted.
 */
import type { CacheCause, CacheUse } from '../../contract/cache.ts'
import type { EventBody } from '../../contract/events.ts'
import { NO_USAGE, type Usage } from '../../contract/outcome.ts'
import { type Pricing, priceWeight } from './pricing.ts'
import type { Rates } from './usage.ts'

/** The prompt cache of a session after its last call. */
export interface CacheState {
  model: string
  cachedTokens: number
  version: string | null
  tools: string | null
  at: string
  ttlMs: number | null
  /** Tokens of the agent's own instructions and tools: the first call without the text of Reprise. */
  baseTokens: number | null
}

export interface CacheTurn {
  events: readonly { body: EventBody; at: Date }[]
  resumed: boolean
  /** The cache of the session before this attempt. */
  before: CacheState | null
  version: string | null
  /** Tokens of the text that was sent, and of the text with the whole history. */
  sent: { promptTokens: number; transcriptTokens: number } | null
  rates: Rates
  pricing: Pricing
}

/** A smaller share is ignored, because the ends of two requests always differ a little. */
const NOTABLE_SHARE = 0.05

/**
 * `use`: how the turn used the cache; null if it was not resumed or called no model. `after`: the new state; null if it
 * is unchanged.
 */
export function judgeCache(turn: CacheTurn): { use: CacheUse | null; after: CacheState | null } {
  const calls = mainCalls(turn.events)
  const [first] = calls
  const last = calls.at(-1)
  if (!first || !last) return { use: null, after: compactedState(turn) }
  const tools = toolsOf(turn.events)
  const { before, resumed, version, pricing } = turn
  const after: CacheState = {
    model: last.model,
    cachedTokens: last.compactedAfter ? 0 : last.usage.cacheReadTokens + last.usage.cacheWriteTokens,
    version,
    tools: tools ?? before?.tools ?? null,
    at: last.at.toISOString(),
    ttlMs: last.ttlMs ?? before?.ttlMs ?? null,
    baseTokens: resumed
      ? (before?.baseTokens ?? null)
      : turn.sent && Math.max(0, promptOf(first.usage) - turn.sent.promptTokens),
  }
  if (!resumed || !before) return { use: null, after }
  const expected = before.cachedTokens
  const lacking = Math.max(0, expected - first.usage.cacheReadTokens)
  const rewritten = lacking > expected * NOTABLE_SHARE ? lacking : 0
  const rate = Object.hasOwn(turn.rates, first.model) ? (turn.rates[first.model] ?? null) : null
  const use: CacheUse = {
    expectedReadTokens: expected,
    readTokens: first.usage.cacheReadTokens,
    writtenTokens: first.usage.cacheWriteTokens,
    rewrittenTokens: rewritten,
    cause: rewritten > 0 ? causeOf(before, { ...after, model: first.model, at: first.at }, pricing) : null,
    rewriteUsd: priced(
      priceOf({ cacheWriteTokens: rewritten }, pricing) - priceOf({ cacheReadTokens: rewritten }, pricing),
      rate,
    ),
    savedUsd: priced(savedWeight(turn, before, calls), rate),
  }
  return { use, after }
}

function causeOf(
  before: CacheState,
  now: { model: string; version: string | null; tools: string | null; at: Date },
  { cacheTtlMs }: Pricing,
): CacheCause {
  if (before.model !== now.model) return 'other-model'
  if (before.version !== null && now.version !== null && before.version !== now.version)
    return 'other-version'
  if (before.tools !== null && now.tools !== null && before.tools !== now.tools) return 'other-tools'
  const idleMs = now.at.getTime() - Date.parse(before.at)
  return idleMs >= (before.ttlMs ?? cacheTtlMs) ? 'expired' : 'unknown'
}

/** The saving in units of the price of one input token; null: there is nothing to compare with. */
function savedWeight(
  { sent, pricing }: CacheTurn,
  { baseTokens }: CacheState,
  calls: readonly Call[],
): number | null {
  const [first] = calls
  if (!first || !sent || baseTokens === null) return null
  const fresh = baseTokens + sent.transcriptTokens
  const freshWeight = priceOf(
    { cacheReadTokens: baseTokens, cacheWriteTokens: sent.transcriptTokens },
    pricing,
  )
  const resumedWeight = priceOf({ ...first.usage, outputTokens: 0 }, pricing)
  const later = (calls.length - 1) * priceOf({ cacheReadTokens: fresh - promptOf(first.usage) }, pricing)
  return freshWeight - resumedWeight + later
}

const priced = (weight: number | null, rate: number | null) =>
  weight === null || rate === null ? null : weight * rate
const priceOf = (usage: Partial<Usage>, pricing: Pricing) => priceWeight({ ...NO_USAGE, ...usage }, pricing)
const promptOf = (usage: Usage) => usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens

const leavesOtherHistory = ({ type }: EventBody) => type === 'compaction' || type === 'memory-clear'

/** A compaction changes the history, also if the agent does not report a call to the model for it. */
function compactedState({ events, before }: CacheTurn): CacheState | null {
  const compacted = events.some(({ body }) => leavesOtherHistory(body))
  return before && compacted ? { ...before, cachedTokens: 0 } : null
}

interface Call {
  model: string
  usage: Usage
  ttlMs: number | null
  at: Date
  compactedAfter: boolean
}

/** The calls of the conversation itself, in order. Sub-agents have their own caches and are left out. */
function mainCalls(events: CacheTurn['events']): Call[] {
  const calls = new Map<string, Call>()
  for (const { body, at } of events) {
    if (leavesOtherHistory(body)) for (const call of calls.values()) call.compactedAfter = true
    if (body.type !== 'model-call' || body.parentToolUseId !== undefined) continue
    const earlier = calls.get(body.messageId)
    calls.set(body.messageId, {
      model: body.model ?? earlier?.model ?? '',
      usage: { ...NO_USAGE, ...earlier?.usage, ...definedOf(body.usage) },
      ttlMs: body.cacheTtlMs ?? earlier?.ttlMs ?? null,
      at,
      compactedAfter: false,
    })
  }
  return [...calls.values()]
}

const definedOf = (usage: object) =>
  Object.fromEntries(Object.entries(usage).filter(([, figure]) => figure !== undefined)) as Partial<Usage>

function toolsOf(events: CacheTurn['events']): string | null {
  const tools = events.flatMap(({ body }) => (body.type === 'session-start' ? (body.tools ?? []) : []))
  return tools.length === 0 ? null : [...new Set(tools)].sort().join(' ')
}
