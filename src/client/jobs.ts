/** The calls about jobs. */

import type { CheckpointDiff } from '../contract/checkpoint.ts'
import type { CreateJob, UpdateJob } from '../contract/create-job.ts'
import { RepriseError } from '../contract/errors.ts'
import type { Page } from '../contract/http.ts'
import type { Job, JobDetail, JobFilters, JobState } from '../contract/job.ts'
import type { RunDetail } from '../contract/run.ts'
import type { FollowOptions } from './follow.ts'
import { type KeyOptions, keyed, type Open, type PageOptions, type Request } from './request.ts'

type WaitOptions = Pick<FollowOptions, 'signal' | 'retryForMs'>

export interface JobCalls {
  createJob: (request: CreateJob, options?: KeyOptions) => Promise<Job>
  listJobs: (options?: PageOptions & JobFilters) => Promise<Page<Job>>
  getJob: (id: string) => Promise<JobDetail>
  /** A job that is paused for its budget continues if the new one is not used up. */
  updateJob: (id: string, change: UpdateJob) => Promise<Job>
  /** Continues in the job's session if that is safe; with `resume: false` in a new one. */
  retryJob: (id: string, options?: { resume?: boolean; maxTurns?: number | undefined }) => Promise<Job>
  cancelJob: (id: string) => Promise<Job>
  /** By default from the first checkpoint to the work tree as it is now. */
  diffJob: (
    id: string,
    range?: { from?: number | undefined; to?: number | undefined },
  ) => Promise<CheckpointDiff>
  /** Restores the work tree of a checkpoint. The present one is saved as another checkpoint. */
  restoreJob: (id: string, checkpoint: number) => Promise<{ restored: number; saved: number | null }>
  /** Lines of JSON in the agent's own format. */
  jobTranscript: (id: string) => Promise<ReadableStream<Uint8Array>>
  /** Resolves when the job has ended or needs a person, without reading its events. */
  whenJobEnds: (id: string, options?: WaitOptions) => Promise<JobDetail>
}

export interface JobParts {
  request: Request
  open: Open
  whenSettled: (runId: string, options?: WaitOptions) => Promise<RunDetail>
}

/** States that a job leaves by itself. */
const ACTIVE: readonly JobState[] = ['queued', 'running', 'waiting']
const isActive = ({ state }: Pick<Job, 'state'>): boolean => ACTIVE.includes(state)

export function jobCalls({ request, open, whenSettled }: JobParts): JobCalls {
  const getJob = (id: string) => request('getJob', { params: { id } })
  return {
    createJob: (body, options) => request('createJob', { body, ...keyed(options) }),
    listJobs: (query) => request('listJobs', { query }),
    getJob,
    updateJob: (id, body) => request('updateJob', { params: { id }, body }),
    retryJob: (id, { resume = true, maxTurns } = {}) =>
      request('retryJob', { params: { id }, query: { resume: resume ? 'true' : 'false', maxTurns } }),
    cancelJob: (id) => request('cancelJob', { params: { id } }),
    diffJob: (id, { from, to } = {}) =>
      request('diffCheckpoints', { params: { id }, query: { from: asText(from), to: asText(to) } }),
    restoreJob: (id, checkpoint) => request('restoreCheckpoint', { params: { id }, body: { checkpoint } }),
    jobTranscript: async (id) => {
      const body = await open('getTranscript', { params: { id } })
      if (!body) throw new RepriseError('internal', 'the response has no body')
      return body
    },
    whenJobEnds: async (id, options) => {
      let job = await getJob(id)
      // The job may have been retried meanwhile: then another run works on it.
      while (isActive(job)) {
        await whenSettled(job.runId, options)
        job = await getJob(id)
      }
      return job
    },
  }
}

const asText = (number: number | undefined) => (number === undefined ? undefined : String(number))
