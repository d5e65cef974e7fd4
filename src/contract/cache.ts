/** How a resumed turn used the prompt cache, compared with what was expected. */
import { z } from 'zod'

export const CACHE_CAUSES = ['other-model', 'other-version', 'other-tools', 'expired', 'unknown'] as const
export const CacheCause = z
  .enum(CACHE_CAUSES)
  .describe(
    'Why something that should have been in the cache was written again. `other-model`: caches are per model. `other-version`: another version of the agent, whose instructions differ. `other-tools`: the agent has other tools. `expired`: the session was last used longer ago than the cache keeps. `unknown`: nothing that Reprise knows of has changed.',
  )
export type CacheCause = z.infer<typeof CacheCause>

/** Figures of the turn's first call to the model: later calls read what that one has written. */
export const CacheUse = z
  .object({
    expectedReadTokens: z.number().describe("Tokens that the session's previous call had left in the cache."),
    readTokens: z.number(),
    writtenTokens: z.number(),
    rewrittenTokens: z
      .number()
      .describe('Tokens that were expected to be read from the cache and were paid for again instead.'),
    cause: CacheCause.nullable().describe('Why; null if the rewritten tokens are negligible.'),
    rewriteUsd: z
      .number()
      .nullable()
      .describe('The extra cost of rewriting instead of reading; null if the price is not known.'),
    savedUsd: z
      .number()
      .nullable()
      .describe(
        'How much less the turn cost than in a new session that is given the history as text; negative if it cost more. An estimate that covers what is sent to the model only. null if there is nothing to compare with.',
      ),
  })
  .meta({ id: 'CacheUse' })
export type CacheUse = z.infer<typeof CacheUse>

export const CacheStats = z
  .object({
    resumedTurns: z.number().int(),
    expectedReadTokens: z.number(),
    readTokens: z.number(),
    writtenTokens: z.number(),
    rewrittenTokens: z.number(),
    rewriteUsd: z.number(),
    savedUsd: z.number(),
    rewrites: z
      .partialRecord(
        CacheCause,
        z.object({ turns: z.number().int(), tokens: z.number(), costUsd: z.number() }),
      )
      .describe('Turns that wrote again what should have been in the cache, by cause.'),
  })
  .meta({ id: 'CacheStats' })
export type CacheStats = z.infer<typeof CacheStats>
