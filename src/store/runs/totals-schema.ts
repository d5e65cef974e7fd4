/** The tables of sums over all runs. */

/** Sums over all settled runs with this end and this reason; see totals.ts. */
export interface TotalsTable {
  outcome: string
  /** Empty: none, because the run's newest attempt was resumed. */
  fresh_reason: string
  runs: number
  attempts: number
  resumed: number
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  cost_usd: number
  prompt_chars: number
  transcript_chars: number
}

/** Sums over resumed turns by the cause of what was written to the prompt cache again; see cache-totals.ts. */
export interface CacheTotalsTable {
  /** Empty: nothing was written again. */
  cause: string
  turns: number
  expected_tokens: number
  read_tokens: number
  written_tokens: number
  rewritten_tokens: number
  rewrite_usd: number
  saved_usd: number
}

declare module '../base/schema.ts' {
  interface Tables {
    totals: TotalsTable
    cache_totals: CacheTotalsTable
  }
}
