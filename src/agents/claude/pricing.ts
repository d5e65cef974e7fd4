import type { Pricing } from '../../core/cost/pricing.ts'

/** The vendor's prices have these proportions for every model. A prompt cache is kept for five minutes by default. */
export const CLAUDE_PRICING: Pricing = { output: 5, cacheWrite: 1.25, cacheRead: 0.1, cacheTtlMs: 5 * 60_000 }
