/**
 * A run's events as a stream that the reader pulls. Nothing is read from the store before the reader has taken what
 * was read last, so a slow reader costs one page of memory however far it is behind, and nobody else notices it.
 * The engine's progress notice only ends a wait; what is new is always looked up.
 */
import type { RunEvent } from '../../contract/events.ts'
import type { RunId } from '../../contract/ids.ts'
import { nextPageSize, START_PAGE } from '../../core/page-size.ts'
import type { Engine } from '../../engine/api.ts'

type EventEngine = Pick<Engine, 'listEvents' | 'onProgress' | 'getRun'>

export interface EventEncoding {
  contentType: string
  event: (event: RunEvent) => string
  /** Sent when there is nothing to say, so that both ends notice a dead connection. */
  heartbeat: string
}

export const SSE: EventEncoding = {
  contentType: 'text/event-stream; charset=utf-8',
  event: (event) => `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  heartbeat: ': still here\n\n',
}

export const NDJSON: EventEncoding = {
  contentType: 'application/x-ndjson; charset=utf-8',
  event: (event) => `${JSON.stringify(event)}\n`,
  heartbeat: '\n',
}

export interface EventQuery {
  runId: RunId
  after: number
  /** Whether to wait for what is still to come, until the run has ended. */
  follow: boolean
}

const CHUNK_CHARS = 64 * 1024

export function streamEvents(
  engine: EventEngine,
  query: EventQuery,
  encoding: EventEncoding,
  { heartbeatMs, signal }: { heartbeatMs: number; signal: AbortSignal },
): ReadableStream<Uint8Array> {
  const gone = new AbortController()
  const ended = AbortSignal.any([gone.signal, signal])
  const chunks = encodeChunks(engine, query, encoding, heartbeatMs, ended)
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      cancel: async () => {
        gone.abort()
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

async function* encodeChunks(
  engine: EventEngine,
  query: EventQuery,
  encoding: EventEncoding,
  heartbeatMs: number,
  ended: AbortSignal,
): AsyncGenerator<string, void> {
  const { runId, follow } = query
  const wake = listenForProgress(engine, runId)
  let after = query.after
  let pageSize = START_PAGE
  // A reader that starts behind the last event sees no `run-end`; it learns from the run itself that it is over.
  let mayBeOver = true
  try {
    while (!ended.aborted) {
      wake.rearm()
      const asked = pageSize
      const page = await engine.listEvents(runId, after, asked)
      let chunk = ''
      let chars = 0
      for (const event of page) {
        chunk += encoding.event(event)
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
      if (await wake.wait(heartbeatMs, ended)) continue
      mayBeOver = true
      if (!ended.aborted) yield encoding.heartbeat
    }
  } finally {
    wake.close()
  }
}

/** Whether the run has ended and nothing comes after `after`. In this order: the end may come between two looks. */
export async function isOver(engine: EventEngine, runId: RunId, after: number): Promise<boolean> {
  const { state } = await engine.getRun(runId)
  return state === 'settled' && (await engine.listEvents(runId, after, 1)).length === 0
}

/** `wait` resolves to true on progress since `rearm`, to false after the time or when the stream has ended. */
function listenForProgress(engine: EventEngine, runId: RunId) {
  let progress = Promise.withResolvers<true>()
  const close = engine.onProgress(runId, () => progress.resolve(true))
  return {
    close,
    rearm: () => {
      progress = Promise.withResolvers<true>()
    },
    wait: async (ms: number, ended: AbortSignal): Promise<boolean> => {
      const { promise: idle, resolve } = Promise.withResolvers<false>()
      const stop = () => resolve(false)
      const timer = setTimeout(stop, ms)
      ended.addEventListener('abort', stop, { once: true })
      if (ended.aborted) stop()
      try {
        return await Promise.race([progress.promise, idle])
      } finally {
        clearTimeout(timer)
        ended.removeEventListener('abort', stop)
      }
    },
  }
}
