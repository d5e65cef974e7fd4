/** Questions and permission requests of an agent that wait for a person, and the answer to them. */
import { z } from 'zod'
import { QuestionItem } from './events.ts'

export const PendingQuestion = z
  .object({
    toolUseId: z.string(),
    kind: z.enum(['question', 'permission']),
    askHash: z
      .string()
      .describe('The hash of what is asked: an answer that names it applies to nothing else.'),
    askedAt: z.iso.datetime(),
    tool: z.string().optional(),
    input: z.unknown().optional(),
    questions: z.array(QuestionItem).optional(),
  })
  .meta({ id: 'PendingQuestion' })
export type PendingQuestion = z.infer<typeof PendingQuestion>

export const ToolResult = z
  .strictObject({
    toolUseId: z.string().min(1).max(256),
    askHash: z
      .string()
      .max(128)
      .optional()
      .describe('As in the pending question. If something else is pending by now, nothing is answered.'),
    answers: z
      .record(z.string(), z.string())
      .optional()
      .describe('The answers by the text of their questions: the chosen label, or any other text.'),
    decision: z.enum(['allow', 'deny']).optional(),
    remember: z
      .boolean()
      .optional()
      .describe(
        'With `decision: allow`: do not ask again in this session for the same command, or the same tool on the same files. Rules still apply.',
      ),
    message: z
      .string()
      .max(10_000)
      .optional()
      .describe('The reason for a denial, which is sent to the agent.'),
    updatedInput: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'With `decision: allow`: the tool runs with this input instead of the one that was asked for.',
      ),
    native: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("Further fields of the reply, in the agent's own words; see the agent's documentation."),
  })
  .refine((r) => (r.answers === undefined) !== (r.decision === undefined), {
    error: 'expected either answers (to a question) or decision (to a permission request)',
  })
  .meta({ id: 'ToolResult' })
export type ToolResult = z.infer<typeof ToolResult>
