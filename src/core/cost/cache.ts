/**
 * What a resumed turn should have read from the prompt cache, what it did read, and what became of the difference.
 *
 * A request of a resumed session begins with what the session's last request was. So what that one had in the cache at
 * its end (read and written) is what the first request of the next turn should read. If it reads clearly less, that part
 * was written again, at a much higher price, and the first of these that differs is named as the cause: the
 * model, the version of the agent, its tools, the time since; otherwise the cause is unknown. After a compaction the
 * history is another one, and nothing is expected; likewise after the agent's memory was cleared.
 *
 * What resuming saves is measured against a fresh session that is given the history as text: it reads the agent's own
 * instructions from the cache, writes the history, and every further call of the turn then reads the smaller or larger
 * context. That the fresh agent would have to look into everything again is not counted.
 */
import type { CacheCause, CacheUse } from '../../contract/cache.ts'
import type { EventBody } from '../../contract/events.ts'
import { NO_USAGE, type Usage } from '../../contract/outcome.ts'
import { type Pricing, priceWeight } from './pricing.ts'
import type { Rates } from './usage.ts'

/** What a session's last call left behind. */
export interface CacheState {
  model: string
  cachedTokens: number
  version: string | null
  tools: string | null
  at: string
  ttlMs: number | null
  /** The agent's own instructions and tools: what the first call had beside our text. */
  baseTokens: number | null
}

export interface CacheTurn {
  events: readonly { body: EventBody; at: Date }[]
  resumed: boolean
  /** Of the session, before this attempt. */
  before: CacheState | null
  version: string | null
  /** Of the text that was sent, and of what it would have been with the whole history. */
  sent: { promptTokens: number; transcriptTokens: number } | null
  rates: Rates
  pricing: Pricing
}

/** Less than this share is taken for the ways in which requests end differently. */
const NOTABLE_SHARE = 0.05

/** How the turn used the cache (null: it was not resumed, or called no model), and what it leaves (null: as before). */
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

/** In units of the price of one input token; null: there is nothing to compare with. */
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

/** Making room leaves another history, also where the agent does not say that it called a model. */
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

/** The calls of the conversation itself, in order; those of sub-agents have caches of their own. */
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
