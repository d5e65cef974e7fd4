/** The table of what deleted runs have cost. */
import type { CostRow } from '../../contract/overview.ts'

export interface PastCostsTable {
  /** The fields that are not sums, in one text. */
  key: string
  /** The half hour in which the runs ended, counted from 1970. */
  bucket: number
  agent: string
  model: string | null
  tier: number | null
  purpose: CostRow['purpose']
  runs: number
  failed: number
  cancelled: number
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  cost_usd: number
  saved_usd: number
}

declare module '../base/schema.ts' {
  interface Tables {
    past_costs: PastCostsTable
  }
}
