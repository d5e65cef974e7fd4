/** The parts of the history that were left out of a prompt because they do not fit into the model's context window. */
import { z } from 'zod'

export const LeftOutItem = z.object({
  what: z
    .enum(['turn', 'step', 'message', 'tool-input', 'tool-output'])
    .describe(
      '`turn`: a whole turn, oldest first. `step`: a step of interrupted work. The others are parts: of a message, of the input of a tool, of the output of a tool.',
    ),
  turn: z
    .number()
    .int()
    .nullable()
    .describe('The turn it belongs to, counted from 1; null: the work of the run itself.'),
  tool: z.string().optional(),
  characters: z.number().int(),
})
export type LeftOutItem = z.infer<typeof LeftOutItem>

export const LeftOut = z
  .object({
    turns: z.number().int().describe('How many turns were left out whole.'),
    steps: z.number().int().describe('How many steps of interrupted work were left out whole.'),
    messages: z.number().int().describe('How many messages were shortened.'),
    tools: z.number().int().describe('How many inputs and outputs of tools were shortened.'),
    characters: z.number().int().describe('How many characters were left out in total.'),
    items: z.array(LeftOutItem).describe('The hundred largest, in order.'),
  })
  .meta({
    id: 'LeftOut',
    description:
      "The parts of the history that were left out of a prompt because they do not fit into the model's context window.",
  })
export type LeftOut = z.infer<typeof LeftOut>
