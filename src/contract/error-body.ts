/** The body of every response that reports a failure, as a schema. */
import { z } from 'zod'
import { ERROR_CODES, type ErrorBody as ErrorBodyValue } from './errors.ts'

export const ErrorBody = z
  .object({
    error: z.object({
      code: z.enum(ERROR_CODES).describe('Stable: programs can rely on it.'),
      message: z.string().describe('What happened, for people.'),
      hint: z.string().optional().describe('What to do next.'),
      details: z
        .unknown()
        .optional()
        .describe('For bad-request: `{in, problems: [{field, message}]}`, every field that is wrong.'),
    }),
  })
  .meta({ id: 'Error', description: 'What went wrong' }) satisfies z.ZodType<ErrorBodyValue>
