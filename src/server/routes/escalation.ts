/** Chains of runs, and the approvals they wait for. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Engine } from '../../engine/api.ts'
import { Approval, Chain, Escalation, failure, json, page, RunPath } from '../base/schemas.ts'

const chain = createRoute({
  method: 'get',
  path: '/api/runs/{id}/chain',
  summary: 'Every run that escalation has linked to this one, root first, and what they cost together',
  request: { params: RunPath },
  responses: { 200: json('The chain', Chain), default: failure },
})

const list = createRoute({
  method: 'get',
  path: '/api/approvals',
  summary: 'Tiers that wait for a person, the most pressing first',
  responses: { 200: json('All of them', page(Escalation)), default: failure },
})

const decide = createRoute({
  method: 'post',
  path: '/api/runs/{id}/approval',
  summary: 'Lets the tier after this run start, or not',
  request: {
    params: RunPath,
    body: { required: true, content: { 'application/json': { schema: Approval } } },
  },
  responses: { 200: json('What was decided', Escalation), default: failure },
})

export function addEscalationRoutes(app: OpenAPIHono, engine: Engine): void {
  app.openapi(chain, async (c) => c.json(await engine.getChain(c.req.valid('param').id), 200))
  app.openapi(list, async (c) => c.json({ items: await engine.listApprovals(), nextCursor: null }, 200))
  app.openapi(decide, async (c) =>
    c.json(await engine.decideApproval(c.req.valid('param').id, c.req.valid('json')), 200),
  )
}
