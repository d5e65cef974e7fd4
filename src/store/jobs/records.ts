/** Jobs and their checkpoints. */

import type { CheckpointKind, CheckpointPolicy } from '../../contract/checkpoint.ts'
import type { AttemptId, JobId, RunId } from '../../contract/ids.ts'
import type { Attention, JobState } from '../../contract/job.ts'

export interface JobOptions {
  checkpoints: CheckpointPolicy | null
  /** The top of the work tree that is checkpointed. */
  workTree: string | null
  webhook: string | null
}

export interface JobRecord {
  id: JobId
  runId: RunId
  state: JobState
  attention: Attention | null
  options: JobOptions
  priority: number
  maxBudgetUsd: number | null
  maxBudgetTokens: number | null
  createdAt: Date
  updatedAt: Date
}

export type NewJob = Pick<
  JobRecord,
  'id' | 'options' | 'priority' | 'maxBudgetUsd' | 'maxBudgetTokens' | 'createdAt'
> & { idempotencyKey: string | null; requestHash: string }

export interface CheckpointRecord {
  jobId: JobId
  number: number
  kind: CheckpointKind
  ref: string
  commit: string
  tree: string
  head: string | null
  attemptId: AttemptId | null
  createdAt: Date
}
