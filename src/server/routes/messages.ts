/** Changing what has been said. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Engine } from '../../engine/api.ts'
import { EditMessage, failure, json, Message, MessagePath } from '../base/schemas.ts'

const edit = createRoute({
  method: 'patch',
  path: '/api/conversations/{id}/messages/{mid}',
  summary: 'Changes the text of a message; agents that had seen it start fresh with the new history',
  request: {
    params: MessagePath,
    body: { required: true, content: { 'application/json': { schema: EditMessage } } },
  },
  responses: { 200: json('The message', Message), default: failure },
})

const truncate = createRoute({
  method: 'delete',
  path: '/api/conversations/{id}/messages/{mid}',
  summary: 'Takes away a message and everything after it; runs that were to answer it are cancelled',
  request: { params: MessagePath },
  responses: {
    200: json('How many messages are gone', z.object({ removed: z.number().int() })),
    default: failure,
  },
})

export function addMessageRoutes(app: OpenAPIHono, engine: Engine): void {
  app.openapi(edit, async (c) => {
    const { id, mid } = c.req.valid('param')
    return c.json(await engine.editMessage(id, mid, c.req.valid('json').text), 200)
  })
  app.openapi(truncate, async (c) => {
    const { id, mid } = c.req.valid('param')
    return c.json(await engine.truncate(id, mid), 200)
  })
}
