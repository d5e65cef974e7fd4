import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Engine } from '../../engine/api.ts'
import { Agent, failure, json, page } from '../base/schemas.ts'

const list = createRoute({
  method: 'get',
  path: '/api/agents',
  summary: 'Agents and the runtimes found for them',
  responses: { 200: json('All of them', page(Agent)), default: failure },
})

export function addAgentRoutes(app: OpenAPIHono, engine: Engine): void {
  app.openapi(list, async (c) => c.json({ items: await engine.listAgents(), nextCursor: null }, 200))
}
