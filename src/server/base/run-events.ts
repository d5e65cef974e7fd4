/** The events of a run, from any point, as pieces of a stream. */
import type { RunEvent } from '../../contract/events.ts'
import type { RunId } from '../../contract/ids.ts'
import { nextPageSize, START_PAGE } from '../../core/page-size.ts'
import type { Engine } from '../../engine/api.ts'
import { listenFor, type StreamContext, type StreamItem } from './stream.ts'

export type RunEventSource = Pick<Engine, 'listEvents' | 'onProgress' | 'getRun'>

export interface RunEventQuery {
  runId: RunId
  after: number
  /** Whether to wait for events that are still to come, until the run has ended. */
  follow: boolean
}

const CHUNK_CHARS = 64 * 1024

export const itemOf = (event: RunEvent): StreamItem => ({
  id: String(event.seq),
  event: event.type,
  data: event,
})

export async function* runChunks(
  engine: RunEventSource,
  query: RunEventQuery,
  { encoding, heartbeatMs, ended }: StreamContext,
  toItem: (event: RunEvent) => StreamItem = itemOf,
): AsyncGenerator<string, void> {
  const { runId, follow } = query
  const progress = listenFor((listener) => engine.onProgress(runId, listener))
  let after = query.after
  let pageSize = START_PAGE
  // A reader that starts after the last event sees no `run-end`; then the run itself says that it has ended.
  let mayBeOver = true
  try {
    while (!ended.aborted) {
      progress.rearm()
      const asked = pageSize
      const page = await engine.listEvents(runId, after, asked)
      let chunk = ''
      let chars = 0
      for (const event of page) {
        chunk += encoding.encode(toItem(event))
        if (chunk.length < CHUNK_CHARS) continue
        chars += chunk.length
        yield chunk
        chunk = ''
      }
      if (chunk !== '') yield chunk
      const last = page.at(-1)
      if (last) {
        after = last.seq
        pageSize = nextPageSize(pageSize, chars + chunk.length)
        mayBeOver = false
        if (last.type === 'run-end' && follow) return
      }
      // A full page may not be all there is.
      if (page.length === asked) continue
      if (!follow || (mayBeOver && (await isOver(engine, runId, after)))) return
      if (await progress.wait(heartbeatMs, ended)) continue
      mayBeOver = true
      if (!ended.aborted) yield encoding.heartbeat
    }
  } finally {
    progress.close()
  }
}

/**
 * Whether the run has ended and has no event after `after`. The state is read first: the end may come between the
 * two reads.
 */
export async function isOver(engine: RunEventSource, runId: RunId, after: number): Promise<boolean> {
  const { state } = await engine.getRun(runId)
  return state === 'settled' && (await engine.listEvents(runId, after, 1)).length === 0
}
