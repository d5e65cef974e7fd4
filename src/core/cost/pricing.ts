/** The price ratios of a vendor's tokens. The absolute price of a token is learned from the agent's own reports. */
import type { Usage } from '../../contract/outcome.ts'

export interface Pricing {
  /** Prices of tokens in units of the price of one input token. */
  output: number
  cacheWrite: number
  cacheRead: number
  /** How long the vendor keeps a prompt cache, if the agent does not report it. */
  cacheTtlMs: number
}

export type PriceRatios = Pick<Pricing, 'output' | 'cacheWrite' | 'cacheRead'>

/** The price of a call in units of the price of one input token. */
export function priceWeight(usage: Usage, { output, cacheWrite, cacheRead }: PriceRatios): number {
  return (
    usage.inputTokens +
    output * usage.outputTokens +
    cacheWrite * usage.cacheWriteTokens +
    cacheRead * usage.cacheReadTokens
  )
}
