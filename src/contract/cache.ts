/** How a resumed turn used the prompt cache, beside what was to be expected. */
import { z } from 'zod'

/**
 * Why something that should have been in the cache was written again. `other-model`: caches are per model.
 * `other-version`: another version of the agent, whose instructions differ. `other-tools`: the agent has other tools.
 * `expired`: the session was last used longer ago than the cache keeps. `unknown`: nothing that
 * Reprise knows of has changed; the server may have dropped it early, or CLAUDE.md, settings or the agent itself differ.
 */
export const CACHE_CAUSES = ['other-model', 'other-version', 'other-tools', 'expired', 'unknown'] as const
export const CacheCause = z.enum(CACHE_CAUSES)
export type CacheCause = z.infer<typeof CacheCause>

/** All of the turn's first call to the model: later calls read what that one has written. */
export const CacheUse = z.object({
  /** What the session's last call before had left in the cache. */
  expectedReadTokens: z.number(),
  readTokens: z.number(),
  writtenTokens: z.number(),
  /** Expected to be read, and paid for again instead. */
  rewrittenTokens: z.number(),
  /** null: nothing worth mentioning was. */
  cause: CacheCause.nullable(),
  /** What that cost more than reading it; null: the price is not known. */
  rewriteUsd: z.number().nullable(),
  /**
   * What the turn cost less than it would have in a fresh session that is given the history as text; negative: it cost
   * more. An estimate, of what is sent to the model only. null: there is nothing to compare with.
   */
  savedUsd: z.number().nullable(),
})
export type CacheUse = z.infer<typeof CacheUse>

export const CacheStats = z.object({
  resumedTurns: z.number().int(),
  expectedReadTokens: z.number(),
  readTokens: z.number(),
  writtenTokens: z.number(),
  rewrittenTokens: z.number(),
  rewriteUsd: z.number(),
  savedUsd: z.number(),
  /** Turns that wrote again what should have been in the cache, by cause. */
  rewrites: z.partialRecord(
    CacheCause,
    z.object({ turns: z.number().int(), tokens: z.number(), costUsd: z.number() }),
  ),
})
export type CacheStats = z.infer<typeof CacheStats>
