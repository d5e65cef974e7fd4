/** What a job has left behind: its checkpoints, and the agent's own transcript. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { JobEngine } from '../../engine/jobs/api.ts'
import {
  CheckpointDiff,
  DiffQuery,
  failure,
  JobPath,
  json,
  RestoreCheckpoint,
  RestoredCheckpoint,
} from '../base/schemas.ts'

const diff = createRoute({
  method: 'get',
  path: '/api/jobs/{id}/diff',
  summary: 'What changed between two checkpoints',
  description: 'From the first checkpoint to the work tree as it is now, unless said otherwise.',
  request: { params: JobPath, query: DiffQuery },
  responses: { 200: json('Files and patch', CheckpointDiff), default: failure },
})

const restore = createRoute({
  method: 'post',
  path: '/api/jobs/{id}/restore',
  summary: 'Puts the work tree back to a checkpoint, after saving it as another one',
  request: {
    params: JobPath,
    body: { required: true, content: { 'application/json': { schema: RestoreCheckpoint } } },
  },
  responses: { 200: json('What was restored, and what was saved', RestoredCheckpoint), default: failure },
})

/** Typed as any text: the library takes whatever has `json` in its name for one JSON document. */
const NDJSON: string = 'application/x-ndjson'

const transcript = createRoute({
  method: 'get',
  path: '/api/jobs/{id}/transcript',
  summary: "The agent's own transcript of the job's newest session",
  request: { params: JobPath },
  responses: {
    200: {
      description: 'Lines of JSON, in the words of the agent',
      content: { [NDJSON]: { schema: z.string() } },
    },
    default: failure,
  },
})

export function addCheckpointRoutes(app: OpenAPIHono, engine: JobEngine): void {
  app.openapi(diff, async (c) =>
    c.json(await engine.diffCheckpoints(c.req.valid('param').id, c.req.valid('query')), 200),
  )
  app.openapi(restore, async (c) => {
    const { checkpoint } = c.req.valid('json')
    return c.json(await engine.restoreCheckpoint(c.req.valid('param').id, checkpoint), 200)
  })
  app.openapi(transcript, async (c) => {
    const chunks = await engine.readTranscript(c.req.valid('param').id)
    c.header('Content-Type', `${NDJSON}; charset=utf-8`)
    return c.body(ReadableStream.from(chunks), 200)
  })
}
