import { z } from 'zod'
import { CacheStats } from './cache.ts'
import { Usage } from './outcome.ts'

export const Stats = z
  .object({
    runs: z.number().int(),
    attempts: z.number().int(),
    conversations: z.number().int(),
    resumedRuns: z.number().int(),
    outcomes: z
      .record(z.string(), z.number().int())
      .describe('Runs by outcome; runs that are not settled, by state.'),
    freshReasons: z
      .record(z.string(), z.number().int())
      .describe('Why new sessions were started, from the newest attempt of each run.'),
    usage: Usage,
    costUsd: z.number(),
    promptTokensSent: z
      .number()
      .describe('Tokens of the prompts that were sent, estimated at four characters a token.'),
    promptTokensOfTranscripts: z
      .number()
      .describe('The estimate if every turn had been sent with the whole history.'),
    promptTokensSaved: z.number(),
    cache: CacheStats.describe(
      'How resumed turns used the prompt cache, and the cost that resuming saved; negative if it cost more.',
    ),
  })
  .meta({ id: 'Stats' })
export type Stats = z.infer<typeof Stats>
