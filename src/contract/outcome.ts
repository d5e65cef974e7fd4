/**
 * How a run, or one attempt at it, ended. The list is the same for every agent; details of a vendor are in `message`.
 */
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
  /** The daemon died repeatedly while handling the run. */
  'quarantined',
  'cancelled',
] as const

export const OutcomeName = z
  .enum(OUTCOMES)
  .describe('How it ended. `quarantined`: the daemon died repeatedly while handling it.')
export type OutcomeName = z.infer<typeof OutcomeName>

export const Outcome = z
  .object({
    name: OutcomeName,
    message: z.string().describe('For people; do not parse it.'),
    apiStatus: z.number().int().optional().describe("The HTTP status of the vendor's API, if there was one."),
    historyRefused: z
      .literal(true)
      .optional()
      .describe('The model does not accept the history of the session; resuming it again would not help.'),
    temporary: z
      .literal(true)
      .optional()
      .describe(
        'This machine lacked something: disk space, descriptors, memory. The run waits and is tried again; it counts against nothing.',
      ),
    resetsAt: z.iso.datetime().optional().describe('When a limit resets, if the agent reported it.'),
    scope: z
      .enum(['account', 'model'])
      .optional()
      .describe(
        'What a limit or an outage affects, if the agent reported it: the whole account or one model.',
      ),
  })
  .meta({ id: 'Outcome' })
export type Outcome = z.infer<typeof Outcome>

export const Usage = z
  .object({
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadTokens: z.number(),
    cacheWriteTokens: z.number(),
  })
  .meta({ id: 'Usage' })
export type Usage = z.infer<typeof Usage>

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
