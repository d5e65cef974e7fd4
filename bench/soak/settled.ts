import type { RunEvent } from '../../src/contract/events.ts'
import type { RunDetail } from '../../src/contract/run.ts'

/** A run of a round, with everything that the API reports about it. Runs of one job share its tag. */
export interface Settled {
  tag: string
  run: RunDetail
  events: RunEvent[]
}

export type Tell = (violation: string) => void
