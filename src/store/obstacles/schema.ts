/** The table of open limits and outages. */
import type { RunId } from '../../contract/ids.ts'

/** Open limits and outages; see obstacles.ts. */
export interface ObstaclesTable {
  account: string
  /** Empty: all models of the account. */
  model: string
  kind: 'limit' | 'outage'
  message: string
  since: number
  next_try_at: number
  resets_at: number | null
  failures: number
  last_failure_at: number
  last_attempt_id: string
  /** The run that probes whether the obstacle is over, and since when. */
  probe_run_id: RunId | null
  probe_since: number | null
}

declare module '../base/schema.ts' {
  interface Tables {
    obstacles: ObstaclesTable
  }
}
