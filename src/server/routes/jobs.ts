/** Creating, looking at, changing, retrying and cancelling jobs. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { JobEngine } from '../../engine/jobs/api.ts'
import {
  CreateJob,
  failure,
  IdempotencyHeaders,
  Job,
  JobDetail,
  JobPath,
  JobsQuery,
  json,
  page,
  RetryJobQuery,
  UpdateJob,
} from '../base/schemas.ts'

const create = createRoute({
  method: 'post',
  path: '/api/jobs',
  summary: 'Gives an agent a prompt to finish unattended',
  request: {
    headers: IdempotencyHeaders,
    body: { required: true, content: { 'application/json': { schema: CreateJob } } },
  },
  responses: {
    201: json('Accepted: the job is stored and will be done', Job),
    200: json('This Idempotency-Key was seen before: the earlier job', Job),
    default: failure,
  },
})

const list = createRoute({
  method: 'get',
  path: '/api/jobs',
  summary: 'Jobs, newest first',
  request: { query: JobsQuery },
  responses: { 200: json('One page', page(Job)), default: failure },
})

const get = createRoute({
  method: 'get',
  path: '/api/jobs/{id}',
  summary: 'One job with its attempts, checkpoints and archived transcripts',
  request: { params: JobPath },
  responses: { 200: json('The job', JobDetail), default: failure },
})

const update = createRoute({
  method: 'patch',
  path: '/api/jobs/{id}',
  summary: 'Changes budget or priority; a job that is paused for its budget goes on if there is some left',
  request: {
    params: JobPath,
    body: { required: true, content: { 'application/json': { schema: UpdateJob } } },
  },
  responses: { 200: json('The job', Job), default: failure },
})

const retry = createRoute({
  method: 'post',
  path: '/api/jobs/{id}/retry',
  summary: 'Goes on with a job that is paused, failed or cancelled; one that waits for a time starts now',
  description:
    'In its session if that is safe, or with `resume=false` in a fresh one; with `maxTurns` instead of the limit it ran into.',
  request: { params: JobPath, query: RetryJobQuery },
  responses: { 202: json('Accepted: it will go on', Job), default: failure },
})

const cancel = createRoute({
  method: 'post',
  path: '/api/jobs/{id}/cancel',
  summary: 'Stops a job',
  request: { params: JobPath },
  responses: { 202: json('The wish is stored; the job ends soon', Job), default: failure },
})

export function addJobRoutes(app: OpenAPIHono, engine: JobEngine): void {
  app.openapi(create, async (c) => {
    const key = c.req.valid('header')['idempotency-key'] ?? null
    const { job, created } = await engine.createJob(c.req.valid('json'), key)
    c.header('Location', `/api/jobs/${job.id}`)
    return created ? c.json(job, 201) : c.json(job, 200)
  })
  app.openapi(list, async (c) => c.json(await engine.listJobs(c.req.valid('query')), 200))
  app.openapi(get, async (c) => c.json(await engine.getJob(c.req.valid('param').id), 200))
  app.openapi(update, async (c) =>
    c.json(await engine.updateJob(c.req.valid('param').id, c.req.valid('json')), 200),
  )
  app.openapi(retry, async (c) => {
    const { resume, maxTurns } = c.req.valid('query')
    const options = { resume: resume !== 'false', maxTurns }
    return c.json(await engine.retryJob(c.req.valid('param').id, options), 202)
  })
  app.openapi(cancel, async (c) => c.json(await engine.cancelJob(c.req.valid('param').id), 202))
}
