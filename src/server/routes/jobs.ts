/** Jobs: creating, reading, following, changing, retrying and cancelling them, and their checkpoints. */
import type { Engine } from '../../engine/api.ts'
import { hasSeenEnd, parsePosition } from '../../engine/follow/job-events.ts'
import { type Handlers, respond, respondEmpty } from '../base/handler.ts'
import { jobChunks } from '../base/job-events.ts'
import { encodingFor, headersOf, type StreamOptions, streamChunks } from '../base/stream.ts'

type JobHandlers = Pick<
  Handlers,
  | 'createJob'
  | 'listJobs'
  | 'getJob'
  | 'updateJob'
  | 'followJobEvents'
  | 'retryJob'
  | 'cancelJob'
  | 'diffCheckpoints'
  | 'restoreCheckpoint'
  | 'rewindJob'
  | 'getTranscript'
>

export function jobHandlers(engine: Engine, streams: StreamOptions): JobHandlers {
  return {
    createJob: async ({ body, headers }) => {
      const { job, created } = await engine.createJob(body, headers['idempotency-key'] ?? null)
      return respond(created ? 201 : 200, job, { Location: `/api/jobs/${job.id}` })
    },
    listJobs: async ({ query }) => respond(200, await engine.listJobs(query)),
    getJob: async ({ params }) => respond(200, await engine.getJob(params.id)),
    updateJob: async ({ params, body }) => respond(200, await engine.updateJob(params.id, body)),
    followJobEvents: async ({ params, query, headers }, c) => {
      const job = await engine.getJob(params.id)
      // EventSource repeats the query when it reconnects; the header is then newer.
      const id = headers['last-event-id'] ?? query.after
      const after = id === undefined ? null : parsePosition(id, job)
      const follow = query.follow !== 'false'
      if (follow && hasSeenEnd(job, after)) return respondEmpty(204)
      const encoding = encodingFor(c.req.header('accept'))
      const stream = streamChunks(
        (context) => jobChunks(engine, { jobId: job.id, after, follow }, context),
        encoding,
        streams,
        c,
      )
      return respond(200, stream, headersOf(encoding))
    },
    retryJob: async ({ params, query }) => {
      const options = { resume: query.resume !== 'false', maxTurns: query.maxTurns }
      return respond(202, await engine.retryJob(params.id, options))
    },
    cancelJob: async ({ params }) => respond(202, await engine.cancelJob(params.id)),
    diffCheckpoints: async ({ params, query }) =>
      respond(200, await engine.diffCheckpoints(params.id, query)),
    restoreCheckpoint: async ({ params, body }) =>
      respond(200, await engine.restoreCheckpoint(params.id, body.checkpoint)),
    rewindJob: async ({ params, body }) => respond(200, await engine.rewindJob(params.id, body.checkpoint)),
    getTranscript: async ({ params }) => {
      const chunks = await engine.readTranscript(params.id)
      const type = 'application/x-ndjson; charset=utf-8'
      return respond(200, ReadableStream.from<Uint8Array>(chunks), { 'Content-Type': type })
    },
  }
}
