/** Taking a turn in a conversation, and taking one again. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Run as RunValue } from '../../contract/run.ts'
import type { Engine } from '../../engine/api.ts'
import { optionalBody } from '../base/optional-body.ts'
import {
  ConversationPath,
  CreateTurn,
  failure,
  IdempotencyHeaders,
  json,
  MessagePath,
  RetryTurn,
  Run,
} from '../base/schemas.ts'

const accepted = z.object({ run: Run })
const responses = {
  202: json('Accepted: the question is stored and will be answered by this run', accepted),
  200: json('This Idempotency-Key was seen before: the earlier run', accepted),
  default: failure,
}

const create = createRoute({
  method: 'post',
  path: '/api/conversations/{id}/turns',
  summary: 'Says something to an agent; turns of one conversation are answered one at a time, in order',
  request: {
    params: ConversationPath,
    headers: IdempotencyHeaders,
    body: { required: true, content: { 'application/json': { schema: CreateTurn } } },
  },
  responses,
})

const retry = createRoute({
  method: 'post',
  path: '/api/conversations/{id}/messages/{mid}/retry',
  summary: "Asks the question of that message's turn again, as if nothing had come after it",
  middleware: [optionalBody] as const,
  request: {
    params: MessagePath,
    headers: IdempotencyHeaders,
    body: { required: false, content: { 'application/json': { schema: RetryTurn } } },
  },
  responses,
})

export function addTurnRoutes(app: OpenAPIHono, engine: Engine): void {
  app.openapi(create, async (c) => {
    const key = c.req.valid('header')['idempotency-key'] ?? null
    const { run, created } = await engine.createTurn(c.req.valid('param').id, c.req.valid('json'), key)
    pointTo(c, run)
    return created ? c.json({ run }, 202) : c.json({ run }, 200)
  })
  app.openapi(retry, async (c) => {
    const key = c.req.valid('header')['idempotency-key'] ?? null
    const { id, mid } = c.req.valid('param')
    const { run, created } = await engine.retryFrom(id, mid, c.req.valid('json'), key)
    pointTo(c, run)
    return created ? c.json({ run }, 202) : c.json({ run }, 200)
  })
}

/** Where to look for how it goes. */
function pointTo(c: Context, run: RunValue): void {
  c.header('Location', `/api/runs/${run.id}`)
}
