/** The tables of jobs. */

import type { CheckpointKind } from '../../contract/checkpoint.ts'
import type { AttemptId, JobId, RunId, SessionId } from '../../contract/ids.ts'
import type { Attention, JobState } from '../../contract/job.ts'

/** `state` and `attention` are derived from the run and change with it. */
export interface JobsTable {
  id: JobId
  /** The run that works on the job, or did so last. */
  run_id: RunId
  state: JobState
  attention: Attention | null
  options: string
  priority: number
  max_budget_usd: number | null
  max_budget_tokens: number | null
  /** The newest rewind, as JSON. */
  rewound: string | null
  created_at: number
  updated_at: number
}

export interface CheckpointsTable {
  job_id: JobId
  number: number
  kind: CheckpointKind
  ref: string
  commit_id: string
  tree: string
  head: string | null
  attempt_id: AttemptId | null
  /** The position of the session when the checkpoint was taken. */
  session_id: SessionId | null
  message_id: string | null
  created_at: number
}

declare module '../base/schema.ts' {
  interface Tables {
    jobs: JobsTable
    checkpoints: CheckpointsTable
  }
}
