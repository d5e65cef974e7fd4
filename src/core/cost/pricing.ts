/** In which proportions a vendor charges for tokens. What a token costs is learned from the agent's own reports. */
import type { Usage } from '../../contract/outcome.ts'

export interface Pricing {
  /** Prices of tokens in units of the price of one input token. */
  output: number
  cacheWrite: number
  cacheRead: number
  /** How long the vendor keeps a prompt cache where the agent does not say. */
  cacheTtlMs: number
}

export type PriceRatios = Pick<Pricing, 'output' | 'cacheWrite' | 'cacheRead'>

/** A call's price in units of one input token. */
export function priceWeight(usage: Usage, { output, cacheWrite, cacheRead }: PriceRatios): number {
  return (
    usage.inputTokens +
    output * usage.outputTokens +
    cacheWrite * usage.cacheWriteTokens +
    cacheRead * usage.cacheReadTokens
  )
}
