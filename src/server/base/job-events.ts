/** The events of a job as pieces of a stream. The id of an item is its position (engine/follow/job-events.ts). */
import type { RunEvent } from '../../contract/events.ts'
import type { JobId } from '../../contract/ids.ts'
import type { JobEnd } from '../../contract/job.ts'
import { followJob, type JobEventSource, type JobPosition } from '../../engine/follow/job-events.ts'
import { PageSize } from '../../engine/follow/run-events.ts'
import { encodePage } from './run-events.ts'
import type { StreamContext, StreamItem } from './stream.ts'

const itemOf = (event: RunEvent | JobEnd): StreamItem => ({
  id: `${event.runId}:${event.type === 'job-end' ? 'end' : event.seq}`,
  event: event.type,
  data: event,
})

export async function* jobChunks(
  engine: JobEventSource,
  query: { jobId: JobId; after: JobPosition | null; follow: boolean },
  context: StreamContext,
): AsyncGenerator<string, void> {
  const pageSize = new PageSize()
  for await (const page of followJob(engine, query, context, pageSize)) {
    yield* encodePage(page, itemOf, context.encoding, pageSize)
  }
}
