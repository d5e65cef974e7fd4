/** The public interface of jobs. */

import type { CheckpointDiff, RewoundJob } from '../../contract/checkpoint.ts'
import type { CreateJob, UpdateJob } from '../../contract/create-job.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import type { JobId } from '../../contract/ids.ts'
import type { Job, JobDetail, JobFilters } from '../../contract/job.ts'

export interface JobEngine {
  /** Stores the job. `created` is false if the key was used before; the earlier job is returned then. */
  createJob: (request: CreateJob, idempotencyKey: string | null) => Promise<{ job: Job; created: boolean }>
  listJobs: (query: ListQuery & JobFilters) => Promise<Page<Job>>
  getJob: (id: JobId) => Promise<JobDetail>
  /** A job that is paused because of its budget continues if the new budget leaves something to spend. */
  updateJob: (id: JobId, change: UpdateJob) => Promise<Job>
  /**
   * Continues a job that is paused, failed or cancelled; a job that waits for a time starts now. `resume: false` starts
   * a new session. Running, queued and completed jobs are an error.
   */
  retryJob: (id: JobId, options: { resume: boolean; maxTurns?: number | undefined }) => Promise<Job>
  /** Resolves when the cancellation is stored; the job ends soon after. Cancelling an ended job is an error. */
  cancelJob: (id: JobId) => Promise<Job>
  /** By default from the first checkpoint to the current work tree. */
  diffCheckpoints: (
    id: JobId,
    range: { from?: number | undefined; to?: number | undefined },
  ) => Promise<CheckpointDiff>
  /** Restores the work tree, after saving it as checkpoint `saved`. Refused while the job runs. */
  restoreCheckpoint: (id: JobId, checkpoint: number) => Promise<{ restored: number; saved: number | null }>
  /**
   * Puts the files and the session back to a checkpoint. The session is forked there; the old one and the present files
   * are kept. Refused while the job runs.
   */
  rewindJob: (id: JobId, checkpoint: number) => Promise<RewoundJob>
  /** The agent's own transcript of the job's newest session, from the archive or where the agent keeps it. */
  readTranscript: (id: JobId) => Promise<AsyncIterable<Uint8Array>>
}
