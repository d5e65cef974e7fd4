/**
 * Streams that the reader pulls. Nothing is produced before the reader has taken what was produced last, so a slow
 * reader costs one page of memory however far it is behind, and nobody else notices it.
 *
 * Nobody notices a fast reader either: before each chunk the stream waits for the next turn of the event loop. Reading
 * from SQLite and writing to a socket that has room both complete without one, so a long replay would otherwise be
 * sent in one go, and all other requests would wait for its end.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from 'hono'
import type { FollowContext } from '../../engine/follow/notice.ts'
import type { OpenStreams } from './open-streams.ts'

/** One item as it is sent. */
export interface StreamItem {
  /** With this id the reader resumes after the item. */
  id: string
  event: string
  data: unknown
}

export interface Encoding {
  contentType: string
  encode: (item: StreamItem) => string
  /** Sent when there is nothing else to send, so that both ends notice a dead connection. */
  heartbeat: string
}

const SSE: Encoding = {
  contentType: 'text/event-stream; charset=utf-8',
  encode: ({ id, event, data }) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  heartbeat: ': still here\n\n',
}

const NDJSON: Encoding = {
  contentType: 'application/x-ndjson; charset=utf-8',
  encode: ({ data }) => `${JSON.stringify(data)}\n`,
  heartbeat: '\n',
}

export function encodingFor(accept: string | undefined): Encoding {
  return accept?.includes('application/x-ndjson') ? NDJSON : SSE
}

export const headersOf = ({ contentType }: Encoding) => ({
  'Content-Type': contentType,
  'X-Accel-Buffering': 'no',
})

export interface StreamOptions {
  heartbeatMs: number
  /** Ends all streams. */
  signal: AbortSignal
  /** Without it, streams are not counted. */
  open?: OpenStreams
}

export interface StreamContext extends FollowContext {
  encoding: Encoding
}

export function streamChunks(
  produce: (context: StreamContext) => AsyncGenerator<string | Uint8Array, void>,
  encoding: Encoding,
  { heartbeatMs, signal, open }: StreamOptions,
  c: Context,
): ReadableStream<Uint8Array> {
  const place = open?.enter(c)
  const gone = new AbortController()
  const ended = AbortSignal.any([gone.signal, signal, ...(place?.ended ? [place.ended] : [])])
  const chunks = produce({ encoding, heartbeatMs, ended })
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          await nextTurn()
          const { done, value } = await chunks.next()
          if (!done) return controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
          place?.leave()
          controller.close()
        } catch (error) {
          place?.leave()
          throw error
        }
      },
      cancel: async () => {
        place?.leave()
        gone.abort()
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
