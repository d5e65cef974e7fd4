/** One time that a watch looked: its runs, what they cost, and what they asked for later. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { WatchEngine } from '../../engine/watches/api.ts'
import { Cycle, CycleDetail, CyclePath, failure, json } from '../base/schemas.ts'

const get = createRoute({
  method: 'get',
  path: '/api/cycles/{id}',
  summary: 'One cycle with its events, chain and follow-ups',
  request: { params: CyclePath },
  responses: { 200: json('The cycle', CycleDetail), default: failure },
})

const cancel = createRoute({
  method: 'post',
  path: '/api/cycles/{id}/cancel',
  summary: 'Ends a cycle: its runs are stopped, its follow-ups cancelled',
  request: { params: CyclePath },
  responses: { 202: json('The wish is stored; the cycle ends soon', Cycle), default: failure },
})

export function addCycleRoutes(app: OpenAPIHono, engine: WatchEngine): void {
  app.openapi(get, async (c) => c.json(await engine.getCycle(c.req.valid('param').id), 200))
  app.openapi(cancel, async (c) => c.json(await engine.cancelCycle(c.req.valid('param').id), 202))
}
