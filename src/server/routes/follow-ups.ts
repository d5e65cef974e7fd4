/** What is due later in a session: looked at, asked for by people, and cancelled. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { WatchEngine } from '../../engine/watches/api.ts'
import {
  CreateFollowUp,
  FollowUp,
  FollowUpPath,
  FollowUpsQuery,
  failure,
  IdempotencyHeaders,
  json,
  page,
} from '../base/schemas.ts'

const create = createRoute({
  method: 'post',
  path: '/api/followups',
  summary: 'Has a prompt given to a session later',
  description: "The session is a run's (`runId`) or named itself (`sessionId`).",
  request: {
    headers: IdempotencyHeaders,
    body: { required: true, content: { 'application/json': { schema: CreateFollowUp } } },
  },
  responses: {
    201: json('It is planned, now or since this Idempotency-Key was seen first', FollowUp),
    default: failure,
  },
})

const list = createRoute({
  method: 'get',
  path: '/api/followups',
  summary: 'Follow-ups of agents and people: planned, fired, missed, cancelled',
  request: { query: FollowUpsQuery },
  responses: { 200: json('One page', page(FollowUp)), default: failure },
})

const get = createRoute({
  method: 'get',
  path: '/api/followups/{id}',
  summary: 'One follow-up',
  request: { params: FollowUpPath },
  responses: { 200: json('The follow-up', FollowUp), default: failure },
})

const cancel = createRoute({
  method: 'delete',
  path: '/api/followups/{id}',
  summary: 'Cancels a follow-up that is planned; it stays as a record',
  request: { params: FollowUpPath },
  responses: { 200: json('It will not fire', FollowUp), default: failure },
})

export function addFollowUpRoutes(app: OpenAPIHono, engine: WatchEngine): void {
  app.openapi(create, async (c) => {
    const key = c.req.valid('header')['idempotency-key'] ?? null
    const followUp = await engine.createFollowUp(c.req.valid('json'), key)
    c.header('Location', `/api/followups/${followUp.id}`)
    return c.json(followUp, 201)
  })
  app.openapi(list, async (c) => c.json(await engine.listFollowUps(c.req.valid('query')), 200))
  app.openapi(get, async (c) => c.json(await engine.getFollowUp(c.req.valid('param').id), 200))
  app.openapi(cancel, async (c) => c.json(await engine.cancelFollowUp(c.req.valid('param').id), 200))
}
