import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Engine } from '../../engine/api.ts'
import { failure, json, PageQuery, page, Session, SessionDetail, SessionPath } from '../base/schemas.ts'

const list = createRoute({
  method: 'get',
  path: '/api/sessions',
  summary: 'Sessions, last used first',
  request: { query: PageQuery },
  responses: { 200: json('One page', page(Session)), default: failure },
})

const get = createRoute({
  method: 'get',
  path: '/api/sessions/{id}',
  summary: "One session, by our id or the agent's own",
  request: { params: SessionPath },
  responses: { 200: json('The session', SessionDetail), default: failure },
})

export function addSessionRoutes(app: OpenAPIHono, engine: Engine): void {
  app.openapi(list, async (c) => c.json(await engine.listSessions(c.req.valid('query')), 200))
  app.openapi(get, async (c) => c.json(await engine.getSession(c.req.valid('param').id), 200))
}
