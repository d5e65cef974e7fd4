import { z } from 'zod'
import { Usage } from './outcome.ts'

export const Stats = z.object({
  runs: z.number().int(),
  attempts: z.number().int(),
  conversations: z.number().int(),
  resumedRuns: z.number().int(),
  /** By outcome; runs that are not settled by their state. */
  outcomes: z.record(z.string(), z.number().int()),
  /** Of each run's newest attempt. */
  freshReasons: z.record(z.string(), z.number().int()),
  usage: Usage,
  costUsd: z.number(),
  /** Of the texts we sent; estimated at four characters a token. */
  promptTokensSent: z.number(),
  /** What they would have been if every turn had been sent with the whole history. */
  promptTokensOfTranscripts: z.number(),
  promptTokensSaved: z.number(),
})
export type Stats = z.infer<typeof Stats>
