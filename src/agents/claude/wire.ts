/** Reading the CLI's JSON without trusting its shape. */
import type { Usage } from '../../contract/outcome.ts'

export type Json = Record<string, unknown>

export const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `{ [key]: value }` if the value is of that type, nothing otherwise: absent fields stay absent. */
export const optionalString = <K extends string>(key: K, value: unknown): { [P in K]?: string } =>
  (typeof value === 'string' ? { [key]: value } : {}) as { [P in K]?: string }

export const optionalNumber = <K extends string>(key: K, value: unknown): { [P in K]?: number } =>
  (typeof value === 'number' && Number.isFinite(value) ? { [key]: value } : {}) as { [P in K]?: number }

export const optionalInteger = <K extends string>(key: K, value: unknown): { [P in K]?: number } =>
  Number.isSafeInteger(value) ? optionalNumber(key, value) : {}

export const parentOf = (value: Json) => optionalString('parentToolUseId', value.parent_tool_use_id)

/** Only the figures that are there; a `message_delta` has just some of them. */
export function readUsage(usage: Json): Partial<Usage> {
  return {
    ...optionalNumber('inputTokens', usage.input_tokens),
    ...optionalNumber('outputTokens', usage.output_tokens),
    ...optionalNumber('cacheReadTokens', usage.cache_read_input_tokens),
    ...optionalNumber('cacheWriteTokens', usage.cache_creation_input_tokens),
  }
}

/** Seconds or milliseconds since 1970, or a date in text. */
export function readInstant(value: unknown): string | undefined {
  const at =
    typeof value === 'number'
      ? new Date(value < 1e11 ? value * 1000 : value)
      : typeof value === 'string'
        ? new Date(value)
        : undefined
  // Outside of these years a date is no sensible one, and its text no ISO date any more.
  return at && at.getTime() >= 0 && at.getUTCFullYear() <= 9999 ? at.toISOString() : undefined
}
