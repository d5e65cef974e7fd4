import type { CacheCause, CacheUse } from '../../contract/cache.ts'

export const CAUSE_TEXTS: Readonly<Record<CacheCause, string>> = {
  'other-model': 'another model, which has a cache of its own',
  'other-version': 'another version of the agent',
  'other-tools': 'the agent has other tools than before',
  expired: 'the session was last used longer ago than the cache keeps',
  unknown:
    'cause unknown: the server may have dropped it early, or instructions, settings or the agent may have changed',
}

/** A note for the run's events: how many tokens were written again, why, and what that cost. */
export function describeCacheUse({
  cause,
  rewrittenTokens,
  expectedReadTokens,
  rewriteUsd,
}: CacheUse): string {
  const price = rewriteUsd === null ? '' : `, for about $${rewriteUsd.toFixed(4)} more than reading them`
  const why = cause === null ? '' : `: ${CAUSE_TEXTS[cause]}`
  return `wrote ${rewrittenTokens} of ${expectedReadTokens} tokens to the prompt cache again${price}${why}`
}
