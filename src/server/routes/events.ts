/** A run's events, replayed from any point and followed to the end. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Engine } from '../../engine/api.ts'
import { isOver, NDJSON, SSE, streamEvents } from '../base/event-stream.ts'
import { EventsHeaders, EventsQuery, failure, RunEvent, RunPath } from '../base/schemas.ts'

const events = createRoute({
  method: 'get',
  path: '/api/runs/{id}/events',
  summary: 'Events of a run: SSE, or NDJSON with Accept: application/x-ndjson',
  description:
    'Starts after the event numbered by Last-Event-ID, else by `after`. Ends after `run-end`, or with `follow=false` at the newest event.',
  request: { params: RunPath, query: EventsQuery, headers: EventsHeaders },
  responses: {
    200: {
      description: '`id:` is the number of the event, `event:` its type, `data:` the event',
      content: {
        'text/event-stream': { schema: z.string() },
        'application/x-ndjson': { schema: RunEvent },
      },
    },
    204: { description: 'The run has ended and there is nothing after that point' },
    default: failure,
  },
})

export function addEventRoutes(
  app: OpenAPIHono,
  engine: Engine,
  options: { heartbeatMs: number; signal: AbortSignal },
): void {
  app.openapi(events, async (c) => {
    const { id: runId } = c.req.valid('param')
    const { after: asked, follow } = c.req.valid('query')
    // EventSource repeats the query when it reconnects; the header is then the newer word.
    const after = Number(c.req.valid('header')['last-event-id'] ?? asked ?? 0)
    const query = { runId, after, follow: follow !== 'false' }
    // To EventSource the end of a stream is a reason to reconnect; 204 tells it to stop. It also finds unknown runs.
    if ((await isOver(engine, runId, after)) && query.follow) return c.body(null, 204)
    const encoding = c.req.header('accept')?.includes('application/x-ndjson') ? NDJSON : SSE
    c.header('Content-Type', encoding.contentType)
    c.header('X-Accel-Buffering', 'no')
    return c.body(streamEvents(engine, query, encoding, options), 200)
  })
}
