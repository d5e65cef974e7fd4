/**
 * The events of all runs of a job, in order, as pieces of a stream. It continues with the runs of retries until the job
 * has settled: it is completed, failed or cancelled, or it is paused and needs a person. Then one `job-end` follows.
 *
 * The id of an item is `<run>:<number of the event>`, that of `job-end` is `<last run>:end`. A reader that resumes
 * after `job-end` gets the runs that were added since, and otherwise nothing.
 */
import { RepriseError } from '../../contract/errors.ts'
import type { RunEvent } from '../../contract/events.ts'
import { type JobId, RunId } from '../../contract/ids.ts'
import type { JobDetail, JobEnd, JobState } from '../../contract/job.ts'
import type { JobEngine } from '../../engine/jobs/api.ts'
import { type RunEventSource, runChunks } from './run-events.ts'
import { listenFor, type StreamContext, type StreamItem } from './stream.ts'

type JobEventSource = RunEventSource & Pick<JobEngine, 'getJob'>

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
  if (!RunId.is(runId) || !runIds.includes(runId)) {
    throw new RepriseError('bad-request', `after: expected the id of an event of this job, got ${id}`)
  }
  return { runId, seq: seq === 'end' ? 'end' : Number(seq) }
}

/** Whether a reader at this position has seen everything, the end included. */
export function hasSeenEnd(job: JobDetail, position: JobPosition | null): boolean {
  return position?.seq === 'end' && position.runId === job.runIds.at(-1) && !ACTIVE.includes(job.state)
}

const itemOf = (event: RunEvent): StreamItem => ({
  id: `${event.runId}:${event.seq}`,
  event: event.type,
  data: event,
})

export async function* jobChunks(
  engine: JobEventSource,
  { jobId, after, follow }: { jobId: JobId; after: JobPosition | null; follow: boolean },
  context: StreamContext,
): AsyncGenerator<string, void> {
  let position = after
  while (!context.ended.aborted) {
    const job = await engine.getJob(jobId)
    const run = nextRun(job, position)
    if (run) {
      yield* runChunks(engine, { ...run, follow }, context, itemOf)
      position = { runId: run.runId, seq: 'end' }
      continue
    }
    if (hasSeenEnd(job, after)) return
    if (!ACTIVE.includes(job.state)) return yield context.encoding.encode(endOf(job))
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
  { heartbeatMs, ended }: StreamContext,
): Promise<void> {
  const progress = listenFor((listener) => engine.onProgress(runId, listener))
  await progress.wait(Math.min(heartbeatMs, LOOK_AGAIN_MS), ended)
  progress.close()
}

function endOf({ id, state, runId, endedAt }: JobDetail): StreamItem {
  const data: JobEnd = {
    type: 'job-end',
    jobId: id,
    state,
    runId,
    at: endedAt,
  }
  return { id: `${runId}:end`, event: data.type, data }
}
