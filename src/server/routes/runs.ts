/** Creating, looking at, cancelling and answering runs. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Engine } from '../../engine/api.ts'
import {
  CreateRun,
  failure,
  IdempotencyHeaders,
  json,
  page,
  Run,
  RunDetail,
  RunPath,
  RunsQuery,
  ToolResult,
} from '../base/schemas.ts'

const create = createRoute({
  method: 'post',
  path: '/api/runs',
  summary: 'Gives a prompt to an agent',
  request: {
    headers: IdempotencyHeaders,
    body: { required: true, content: { 'application/json': { schema: CreateRun } } },
  },
  responses: {
    201: json('Accepted: the run is stored and will be done', Run),
    200: json('This Idempotency-Key was seen before: the earlier run', Run),
    default: failure,
  },
})

const list = createRoute({
  method: 'get',
  path: '/api/runs',
  summary: 'Runs, newest first',
  request: { query: RunsQuery },
  responses: { 200: json('One page', page(Run)), default: failure },
})

const get = createRoute({
  method: 'get',
  path: '/api/runs/{id}',
  summary: 'One run with its attempts',
  request: { params: RunPath },
  responses: { 200: json('The run', RunDetail), default: failure },
})

const cancel = createRoute({
  method: 'post',
  path: '/api/runs/{id}/cancel',
  summary: 'Stops a run',
  request: { params: RunPath },
  responses: { 202: json('The wish is stored; the run settles soon', Run), default: failure },
})

const goOn = createRoute({
  method: 'post',
  path: '/api/runs/{id}/continue',
  summary: 'Makes a queued run that waits, or is paused, go on now',
  request: { params: RunPath },
  responses: { 202: json('It will be tried', Run), default: failure },
})

const answer = createRoute({
  method: 'post',
  path: '/api/runs/{id}/tool-result',
  summary: 'Answers a question or a permission request',
  request: {
    params: RunPath,
    body: { required: true, content: { 'application/json': { schema: ToolResult } } },
  },
  responses: { 200: json('The run', Run), default: failure },
})

export function addRunRoutes(app: OpenAPIHono, engine: Engine): void {
  app.openapi(create, async (c) => {
    const key = c.req.valid('header')['idempotency-key'] ?? null
    const { run, created } = await engine.admit(c.req.valid('json'), key)
    c.header('Location', `/api/runs/${run.id}`)
    return created ? c.json(run, 201) : c.json(run, 200)
  })
  app.openapi(list, async (c) => c.json(await engine.listRuns(c.req.valid('query')), 200))
  app.openapi(get, async (c) => c.json(await engine.getRun(c.req.valid('param').id), 200))
  app.openapi(cancel, async (c) => c.json(await engine.cancel(c.req.valid('param').id), 202))
  app.openapi(goOn, async (c) => c.json(await engine.continueRun(c.req.valid('param').id), 202))
  app.openapi(answer, async (c) =>
    c.json(await engine.answer(c.req.valid('param').id, c.req.valid('json')), 200),
  )
}
