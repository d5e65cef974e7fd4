/** The table of what deleted runs have cost. */
import type { CostSums } from '../runs/costs.ts'

export interface PastCostsTable extends CostSums {
  /** The fields that are not sums, in one text. */
  key: string
}

declare module '../base/schema.ts' {
  interface Tables {
    past_costs: PastCostsTable
  }
}
