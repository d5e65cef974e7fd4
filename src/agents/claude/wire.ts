/** Reads the CLI's JSON without trusting its shape. */
import type { EventOf } from '../../contract/events.ts'
import type { Usage } from '../../contract/outcome.ts'

export type Json = Record<string, unknown>

export const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isFigure = (value: unknown): value is number => Number.isFinite(value)

/** `{ [key]: value }` if the value has that type, otherwise nothing: absent fields stay absent. */
export const optionalString = <K extends string>(key: K, value: unknown): { [P in K]?: string } =>
  (typeof value === 'string' ? { [key]: value } : {}) as { [P in K]?: string }

export const optionalNumber = <K extends string>(key: K, value: unknown): { [P in K]?: number } =>
  (isFigure(value) ? { [key]: value } : {}) as { [P in K]?: number }

export const optionalInteger = <K extends string>(key: K, value: unknown): { [P in K]?: number } =>
  Number.isSafeInteger(value) ? optionalNumber(key, value) : {}

type BySubAgent = EventOf<
  | 'text-delta'
  | 'thinking-delta'
  | 'tool-input-delta'
  | 'text-end'
  | 'thinking-end'
  | 'tool-start'
  | 'tool-end'
  | 'model-call'
>

/**
 * Adds the tool call whose sub-agent the event came from, if any. Most lines pass here, so it allocates nothing
 * otherwise.
 */
export function withParent(event: BySubAgent, value: Json): BySubAgent {
  if (typeof value.parent_tool_use_id === 'string') event.parentToolUseId = value.parent_tool_use_id
  return event
}

/** Returns only the figures that are present; a `message_delta` has just some of them. */
export function readUsage(usage: Json): Partial<Usage> {
  const read: Partial<Usage> = {}
  if (isFigure(usage.input_tokens)) read.inputTokens = usage.input_tokens
  if (isFigure(usage.output_tokens)) read.outputTokens = usage.output_tokens
  if (isFigure(usage.cache_read_input_tokens)) read.cacheReadTokens = usage.cache_read_input_tokens
  if (isFigure(usage.cache_creation_input_tokens)) read.cacheWriteTokens = usage.cache_creation_input_tokens
  return read
}

/** How long the prompt cache keeps what this call wrote; nothing if it wrote none. */
export function readCacheTtl({ cache_creation: written }: Json): { cacheTtlMs?: number } {
  if (!isRecord(written)) return {}
  if (isFigure(written.ephemeral_1h_input_tokens) && written.ephemeral_1h_input_tokens > 0)
    return { cacheTtlMs: 3_600_000 }
  if (isFigure(written.ephemeral_5m_input_tokens) && written.ephemeral_5m_input_tokens > 0)
    return { cacheTtlMs: 300_000 }
  return {}
}

/** Accepts seconds or milliseconds since 1970, or a date as text. */
export function readInstant(value: unknown): string | undefined {
  const at =
    typeof value === 'number'
      ? new Date(value < 1e11 ? value * 1000 : value)
      : typeof value === 'string'
        ? new Date(value)
        : undefined
  // A year outside this range is not plausible, and its text would not be a plain ISO date.
  return at && at.getTime() >= 0 && at.getUTCFullYear() <= 9999 ? at.toISOString() : undefined
}
