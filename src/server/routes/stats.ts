import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Engine } from '../../engine/api.ts'
import { failure, json, Stats } from '../base/schemas.ts'

const read = createRoute({
  method: 'get',
  path: '/api/stats',
  summary: 'Totals over all runs: what was done, what it cost, what resuming saved',
  responses: { 200: json('The totals', Stats), default: failure },
})

export function addStatsRoute(app: OpenAPIHono, engine: Engine): void {
  app.openapi(read, async (c) => c.json(await engine.readStats(), 200))
}
