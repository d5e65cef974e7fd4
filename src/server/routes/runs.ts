/** Runs: creating, reading, following, cancelling and answering them. */
import type { Engine } from '../../engine/api.ts'
import { isOver } from '../../engine/follow/run-events.ts'
import { type Handlers, respond, respondEmpty } from '../base/handler.ts'
import { runChunks } from '../base/run-events.ts'
import { encodingFor, headersOf, type StreamOptions, streamChunks } from '../base/stream.ts'

type RunHandlers = Pick<
  Handlers,
  | 'createRun'
  | 'listRuns'
  | 'getRun'
  | 'followRunEvents'
  | 'cancelRun'
  | 'continueRun'
  | 'answerRun'
  | 'sayToRun'
  | 'listRunMessages'
>

export function runHandlers(engine: Engine, streams: StreamOptions): RunHandlers {
  return {
    createRun: async ({ body, headers }) => {
      const { run, created } = await engine.admit(body, headers['idempotency-key'] ?? null)
      return respond(created ? 201 : 200, run, { Location: `/api/runs/${run.id}` })
    },
    listRuns: async ({ query }) => respond(200, await engine.listRuns(query)),
    getRun: async ({ params }) => respond(200, await engine.getRun(params.id)),
    followRunEvents: async ({ params, query, headers }, c) => {
      // EventSource repeats the query when it reconnects; the header is then newer.
      const after = Number(headers['last-event-id'] ?? query.after ?? 0)
      const follow = query.follow !== 'false'
      // EventSource reconnects when a stream ends; 204 tells it to stop. This also finds unknown runs.
      if ((await isOver(engine, params.id, after)) && follow) return respondEmpty(204)
      const encoding = encodingFor(c.req.header('accept'))
      const stream = streamChunks(
        (context) => runChunks(engine, { runId: params.id, after, follow }, context),
        encoding,
        streams,
        c,
      )
      return respond(200, stream, headersOf(encoding))
    },
    cancelRun: async ({ params }) => respond(202, await engine.cancel(params.id)),
    continueRun: async ({ params }) => respond(202, await engine.continueRun(params.id)),
    sayToRun: async ({ params, body, headers }) =>
      respond(202, await engine.say(params.id, body, headers['idempotency-key'] ?? null)),
    listRunMessages: async ({ params }) => respond(200, { items: await engine.listMessages(params.id) }),
    answerRun: async ({ params, body }) => respond(200, await engine.answer(params.id, body)),
  }
}
