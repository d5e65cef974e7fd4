/** How an attempt that has ended used the prompt cache; see core/cost/cache.ts. */
import type { CacheUse } from '../../contract/cache.ts'
import { type CacheState, judgeCache } from '../../core/cost/cache.ts'
import { describeCacheUse } from '../../core/cost/cache-text.ts'
import type { Pricing } from '../../core/cost/pricing.ts'
import type { Rates } from '../../core/cost/usage.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord, StoredEvent } from '../../store/runs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'

export function cacheUseOf(
  { sent }: Pick<RunRecord, 'sent'>,
  attempt: AttemptRecord,
  session: SessionRecord | null,
  { own, rates, pricing }: { own: readonly StoredEvent[]; rates: Rates; pricing: Pricing },
): { use: CacheUse | null; after: CacheState | null; note: string | null } {
  const judged = judgeCache({
    events: own,
    resumed: attempt.resumed,
    before: session?.cacheState ?? null,
    version: attempt.runtime?.version ?? null,
    sent: sent && {
      promptTokens: Math.round(sent.promptChars / 4),
      transcriptTokens: Math.round(sent.transcriptChars / 4),
    },
    rates,
    pricing,
  })
  // A compaction calls the model for its own purpose and cannot be compared with turns.
  const use = attempt.kind === 'turn' ? judged.use : null
  return { ...judged, use, note: use?.cause ? describeCacheUse(use) : null }
}
