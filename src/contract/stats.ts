import { z } from 'zod'
import { CacheStats } from './cache.ts'
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
  /** How resumed turns used the prompt cache, and what resuming saved in money; negative: it cost more. */
  cache: CacheStats,
})
export type Stats = z.infer<typeof Stats>
