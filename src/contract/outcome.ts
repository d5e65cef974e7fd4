/** How a run, or one attempt at it, ended. One list for every agent; what only one vendor says rides in `message`. */
import { z } from 'zod'

export const OUTCOMES = [
  'completed',
  'turn-limit',
  'budget',
  'context-overflow',
  'rate-limited',
  'outage',
  'api-error',
  'auth',
  'session-missing',
  'session-busy',
  'crashed',
  'timed-out',
  'output-limit',
  'question-timeout',
  'work-dir-changed',
  /** The daemon died while it handled the run, again and again. */
  'quarantined',
  'cancelled',
] as const

export const OutcomeName = z.enum(OUTCOMES)
export type OutcomeName = z.infer<typeof OutcomeName>

export const Outcome = z.object({
  name: OutcomeName,
  /** For people. Never parsed. */
  message: z.string(),
  /** The vendor's HTTP status, where one was behind it. */
  apiStatus: z.number().int().optional(),
  /** When a limit resets, where the agent said so. */
  resetsAt: z.iso.datetime().optional(),
  /** What a limit or an outage keeps from being used, where the agent said so: everything, or one model. */
  scope: z.enum(['account', 'model']).optional(),
})
export type Outcome = z.infer<typeof Outcome>

export const Usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
})
export type Usage = z.infer<typeof Usage>

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
