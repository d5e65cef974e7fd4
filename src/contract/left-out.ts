/** What of the past an agent was not given because it did not fit the model's window. */
import { z } from 'zod'

export const LeftOutItem = z.object({
  /**
   * `turn`: a whole turn, the oldest first. `step`: a step of interrupted work. Of the others a part: of a message, of
   * what a tool was given, of what a tool printed.
   */
  what: z.enum(['turn', 'step', 'message', 'tool-input', 'tool-output']),
  /** The turn it belongs to, counted from 1; null: the work of the run itself. */
  turn: z.number().int().nullable(),
  tool: z.string().optional(),
  characters: z.number().int(),
})
export type LeftOutItem = z.infer<typeof LeftOutItem>

export const LeftOut = z.object({
  /** How many turns, and steps of interrupted work, were left out whole. */
  turns: z.number().int(),
  steps: z.number().int(),
  /** How many messages, and inputs and outputs of tools, were shortened. */
  messages: z.number().int(),
  tools: z.number().int(),
  /** In all of them together. */
  characters: z.number().int(),
  /** The hundred largest, in order. */
  items: z.array(LeftOutItem),
})
export type LeftOut = z.infer<typeof LeftOut>
