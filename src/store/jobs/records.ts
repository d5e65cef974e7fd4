/** Jobs and their checkpoints. */

import type { CheckpointKind, CheckpointPolicy } from '../../contract/checkpoint.ts'
import type { AttemptId, JobId, RunId, SessionId } from '../../contract/ids.ts'
import type { Attention, JobState } from '../../contract/job.ts'

export interface JobOptions {
  checkpoints: CheckpointPolicy | null
  /** The top of the work tree that is checkpointed. */
  workTree: string | null
  /** Where the job continues since it was moved. */
  workDir?: string
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
  /** The newest rewind; null: the job was never rewound. */
  rewound: Rewound | null
  createdAt: Date
  updatedAt: Date
}

/** The job was put back to a checkpoint after this run: later runs continue from there, not from the run. */
export interface Rewound {
  after: RunId
  checkpoint: number
  /** The fork in which it continues; null: the checkpoint was taken before there was a session. */
  sessionId: SessionId | null
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
  /** The position in the agent's session at that time; null: it had no session, or the position is not known. */
  position: SessionPosition | null
  createdAt: Date
}

export interface SessionPosition {
  sessionId: SessionId
  /** The newest message in the session's transcript. */
  messageId: string
}
