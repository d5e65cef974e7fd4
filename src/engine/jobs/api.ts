/** What the outside may ask of jobs. */

import type { CheckpointDiff } from '../../contract/checkpoint.ts'
import type { CreateJob, UpdateJob } from '../../contract/create-job.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import type { JobId } from '../../contract/ids.ts'
import type { Job, JobDetail, JobState } from '../../contract/job.ts'

export interface JobEngine {
  /** Stores the intent. `created` is false if the key was seen before; the job is then the earlier one. */
  createJob: (request: CreateJob, idempotencyKey: string | null) => Promise<{ job: Job; created: boolean }>
  listJobs: (query: ListQuery & { state?: JobState | undefined }) => Promise<Page<Job>>
  getJob: (id: JobId) => Promise<JobDetail>
  /** A job that is paused for its budget goes on if the new one leaves something to spend. */
  updateJob: (id: JobId, change: UpdateJob) => Promise<Job>
  /**
   * Goes on with a job that is paused, failed or cancelled; one that waits for a time starts now. `resume: false`: in
   * a fresh session. Running, queued and completed jobs are an error.
   */
  retryJob: (id: JobId, options: { resume: boolean; maxTurns?: number | undefined }) => Promise<Job>
  /** Resolves when the wish is stored; the job ends soon after. Cancelling an ended job is an error. */
  cancelJob: (id: JobId) => Promise<Job>
  /** From the first checkpoint to the work tree as it is now, unless said otherwise. */
  diffCheckpoints: (
    id: JobId,
    range: { from?: number | undefined; to?: number | undefined },
  ) => Promise<CheckpointDiff>
  /** Puts the work tree back, after saving it as checkpoint `saved`. Not while the job runs. */
  restoreCheckpoint: (id: JobId, checkpoint: number) => Promise<{ restored: number; saved: number | null }>
  /** The agent's own transcript of the job's newest session, from the archive or where the agent keeps it. */
  readTranscript: (id: JobId) => Promise<AsyncIterable<Uint8Array>>
}
