/** The events of a run as pieces of a stream. */
import type { RunEvent } from '../../contract/events.ts'
import {
  followRun,
  PageSize,
  type RunEventQuery,
  type RunEventSource,
} from '../../engine/follow/run-events.ts'
import type { Encoding, StreamContext, StreamItem } from './stream.ts'

const CHUNK_CHARS = 64 * 1024

const itemOf = (event: RunEvent): StreamItem => ({
  id: String(event.seq),
  event: event.type,
  data: event,
})

export async function* runChunks(
  engine: RunEventSource,
  query: RunEventQuery,
  context: StreamContext,
): AsyncGenerator<string, void> {
  const pageSize = new PageSize()
  for await (const page of followRun(engine, query, context, pageSize)) {
    yield* encodePage(page, itemOf, context.encoding, pageSize)
  }
}

/** An empty page becomes a heartbeat. */
export function* encodePage<Event>(
  page: readonly Event[],
  toItem: (event: Event) => StreamItem,
  encoding: Encoding,
  pageSize: PageSize,
): Generator<string, void> {
  if (page.length === 0) return yield encoding.heartbeat
  let chunk = ''
  let chars = 0
  for (const event of page) {
    chunk += encoding.encode(toItem(event))
    if (chunk.length < CHUNK_CHARS) continue
    chars += chunk.length
    yield chunk
    chunk = ''
  }
  pageSize.note(chars + chunk.length)
  if (chunk !== '') yield chunk
}
