/** Messages for an agent that is at work, which it gets in the middle of its turn. */
import { z } from 'zod'
import { RunId } from './ids.ts'

export const RUN_MESSAGE_STATES = ['waiting', 'read', 'turn', 'missed'] as const
export type RunMessageState = (typeof RUN_MESSAGE_STATES)[number]

export const Say = z
  .strictObject({
    text: z.string().trim().min(1).max(200_000),
    from: z
      .string()
      .trim()
      .min(1)
      .max(80)
      .regex(/^[^\p{Cc}]*$/u, { error: 'expected a single line' })
      .optional()
      .describe('Who says it; the agent is told. Default: the user.'),
  })
  .meta({ id: 'Say' })
export type Say = z.infer<typeof Say>

export const RunMessage = z
  .object({
    id: z.string(),
    text: z.string(),
    from: z.string().nullable().describe('null: the user.'),
    state: z
      .enum(RUN_MESSAGE_STATES)
      .describe(
        '`waiting`: stored, and given to the agent at the next opportunity. `read`: the agent has taken it in. `turn`: the run ended first, and the message is the next turn of its conversation. `missed`: the run ended first, and nobody read it.',
      ),
    saidAt: z.iso.datetime(),
    readAt: z.iso.datetime().nullable(),
    nextRunId: RunId.schema.nullable().describe('The run of the next turn, for `turn`.'),
  })
  .meta({ id: 'RunMessage', description: 'A message for an agent that is at work.' })
export type RunMessage = z.infer<typeof RunMessage>
