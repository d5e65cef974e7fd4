/**
 * The events of all runs of a job, in order, in pages. They continue with the runs of retries until the job has
 * settled: it is completed, failed or cancelled, or it is paused and needs a person. Then one `job-end` follows.
 *
 * A position is `<run>:<number of the event>`, that of `job-end` is `<last run>:end`. A reader that resumes after
 * `job-end` gets the runs that were added since, and otherwise nothing.
 */
import { RepriseError } from '../../contract/errors.ts'
import type { RunEvent } from '../../contract/events.ts'
import { type JobId, RunId } from '../../contract/ids.ts'
import type { JobDetail, JobEnd, JobState } from '../../contract/job.ts'
import type { JobEngine } from '../jobs/api.ts'
import { type FollowContext, listenFor } from './notice.ts'
import { followRun, type PageSize, type RunEventSource } from './run-events.ts'

export type JobEventSource = RunEventSource & Pick<JobEngine, 'getJob'>

export interface JobPosition {
  runId: RunId
  seq: number | 'end'
}

/** States that a job leaves by itself. */
const ACTIVE: readonly JobState[] = ['queued', 'running', 'waiting']

/** The next run, or the end of the job, is stored shortly after a run has ended. */
const LOOK_AGAIN_MS = 200

/** `id` has passed the schema. */
export function parsePosition(id: string, { runIds }: JobDetail): JobPosition {
  const [runId = '', seq = ''] = id.split(':')
  const isNumber = seq === 'end' || /^\d{1,15}$/.test(seq)
  if (!RunId.is(runId) || !runIds.includes(runId) || !isNumber) {
    throw new RepriseError('bad-request', `after: expected the id of an event of this job, got ${id}`)
  }
  return { runId, seq: seq === 'end' ? 'end' : Number(seq) }
}

/** Whether a reader at this position has seen everything, the end included. */
export function hasSeenEnd(job: JobDetail, position: JobPosition | null): boolean {
  return position?.seq === 'end' && position.runId === job.runIds.at(-1) && !ACTIVE.includes(job.state)
}

/** The last page is the end of the job. An empty page means that nothing was new for a while. */
export async function* followJob(
  engine: JobEventSource,
  { jobId, after, follow }: { jobId: JobId; after: JobPosition | null; follow: boolean },
  context: FollowContext,
  pageSize: PageSize,
): AsyncGenerator<readonly (RunEvent | JobEnd)[], void> {
  let position = after
  while (!context.ended.aborted) {
    const job = await engine.getJob(jobId)
    const run = nextRun(job, position)
    if (run) {
      yield* followRun(engine, { ...run, follow }, context, pageSize)
      position = { runId: run.runId, seq: 'end' }
      continue
    }
    if (hasSeenEnd(job, after)) return
    if (!ACTIVE.includes(job.state)) return yield [endOf(job)]
    if (!follow) return
    await waitForNextRun(engine, job, context)
  }
}

/** The first run that the reader has not seen to its end. */
function nextRun(job: JobDetail, position: JobPosition | null): { runId: RunId; after: number } | null {
  if (position && position.seq !== 'end') return { runId: position.runId, after: position.seq }
  const seen = position ? job.runIds.indexOf(position.runId) : -1
  const runId = job.runIds[seen + 1]
  return runId ? { runId, after: 0 } : null
}

async function waitForNextRun(
  engine: JobEventSource,
  { runId }: JobDetail,
  { heartbeatMs, ended }: FollowContext,
): Promise<void> {
  const progress = listenFor((listener) => engine.onProgress(runId, listener))
  await progress.wait(Math.min(heartbeatMs, LOOK_AGAIN_MS), ended)
  progress.close()
}

const endOf = ({ id, state, runId, endedAt }: JobDetail): JobEnd => ({
  type: 'job-end',
  jobId: id,
  state,
  runId,
  at: endedAt,
})
