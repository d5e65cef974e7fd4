/** The calls about jobs. */
import type { RunEvent } from '../contract/events.ts'
import type { Page } from '../contract/http.ts'
import type { CheckpointDiff, CreateJob, Job, JobDetail, JobState, UpdateJob } from '../contract/job.ts'
import type { RunDetail } from '../contract/run.ts'
import type { FollowOptions } from './follow.ts'
import { type Call, type KeyOptions, keyed, type PageOptions } from './request.ts'

type WaitOptions = Pick<FollowOptions, 'signal' | 'retryForMs'>

export interface JobCalls {
  createJob: (request: CreateJob, options?: KeyOptions) => Promise<Job>
  listJobs: (options?: PageOptions & { state?: JobState | undefined }) => Promise<Page<Job>>
  getJob: (id: string) => Promise<JobDetail>
  /** A job that is paused for its budget goes on if the new one leaves something to spend. */
  updateJob: (id: string, change: UpdateJob) => Promise<Job>
  /** Goes on in the job's session if that is safe; with `resume: false` in a fresh one. */
  retryJob: (id: string, options?: { resume?: boolean; maxTurns?: number | undefined }) => Promise<Job>
  cancelJob: (id: string) => Promise<Job>
  /** From the first checkpoint to the work tree as it is now, unless said otherwise. */
  diffJob: (
    id: string,
    range?: { from?: number | undefined; to?: number | undefined },
  ) => Promise<CheckpointDiff>
  /** Puts the work tree back to a checkpoint. What was there before is saved as another one. */
  restoreJob: (id: string, checkpoint: number) => Promise<{ restored: number; saved: number | null }>
  /** Lines of JSON, in the words of the agent. */
  jobTranscript: (id: string) => Promise<ReadableStream<Uint8Array>>
  /** Those of the run that works on the job now, or did last. */
  jobEvents: (id: string, options?: FollowOptions) => AsyncGenerator<RunEvent, void>
  /** Resolves when the job has ended or needs a person, without reading its events. */
  whenJobEnds: (id: string, options?: WaitOptions) => Promise<JobDetail>
}

export interface JobParts {
  /** For an answer that is JSON. */
  call: <T>(request: Call) => Promise<T>
  /** For one that is a stream. */
  open: (request: Call) => Promise<ReadableStream<Uint8Array>>
  events: (runId: string, options?: FollowOptions) => AsyncGenerator<RunEvent, void>
  whenSettled: (runId: string, options?: WaitOptions) => Promise<RunDetail>
}

/** States that a job leaves by itself. */
const ACTIVE: readonly JobState[] = ['queued', 'running', 'waiting']
const isActive = ({ state }: Pick<Job, 'state'>): boolean => ACTIVE.includes(state)

export function jobCalls({ call, open, events, whenSettled }: JobParts): JobCalls {
  const all = '/api/jobs'
  const one = (id: string, rest = '') => `${all}/${encodeURIComponent(id)}${rest}`
  const getJob = (id: string) => call<JobDetail>({ path: one(id) })

  return {
    createJob: (body, options) => call({ method: 'POST', path: all, body, ...keyed(options) }),
    listJobs: (options) => call({ path: all, query: { ...options } }),
    getJob,
    updateJob: (id, body) => call({ method: 'PATCH', path: one(id), body }),
    retryJob: (id, { resume = true, maxTurns } = {}) =>
      call({
        method: 'POST',
        path: one(id, '/retry'),
        query: { resume: String(resume), ...(maxTurns === undefined ? {} : { maxTurns }) },
      }),
    cancelJob: (id) => call({ method: 'POST', path: one(id, '/cancel') }),
    diffJob: (id, range) => call({ path: one(id, '/diff'), query: { ...range } }),
    restoreJob: (id, checkpoint) => call({ method: 'POST', path: one(id, '/restore'), body: { checkpoint } }),
    jobTranscript: (id) => open({ path: one(id, '/transcript') }),
    jobEvents: async function* (id, options) {
      const { runId } = await getJob(id)
      yield* events(runId, options)
    },
    whenJobEnds: async (id, options) => {
      let job = await getJob(id)
      // Somebody may have retried it meanwhile: then another run works on it.
      while (isActive(job)) {
        await whenSettled(job.runId, options)
        job = await getJob(id)
      }
      return job
    },
  }
}
