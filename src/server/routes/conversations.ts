/** Creating, looking at, changing and deleting conversations. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Engine } from '../../engine/api.ts'
import {
  Conversation,
  ConversationDetail,
  ConversationMove,
  ConversationPath,
  CreateConversation,
  failure,
  json,
  MoveQuery,
  PageQuery,
  page,
  UpdateConversation,
  UpdatedConversation,
} from '../base/schemas.ts'

const create = createRoute({
  method: 'post',
  path: '/api/conversations',
  summary: 'Starts a conversation',
  request: { body: { required: true, content: { 'application/json': { schema: CreateConversation } } } },
  responses: { 201: json('It has no turns yet', Conversation), default: failure },
})

const list = createRoute({
  method: 'get',
  path: '/api/conversations',
  summary: 'Conversations, newest first',
  request: { query: PageQuery },
  responses: { 200: json('One page', page(Conversation)), default: failure },
})

const get = createRoute({
  method: 'get',
  path: '/api/conversations/{id}',
  summary: "One conversation with its messages, and each agent's place in it",
  request: { params: ConversationPath },
  responses: { 200: json('The conversation', ConversationDetail), default: failure },
})

const update = createRoute({
  method: 'patch',
  path: '/api/conversations/{id}',
  summary: 'Changes the title or the instructions, or moves it to another directory',
  request: {
    params: ConversationPath,
    body: { required: true, content: { 'application/json': { schema: UpdateConversation } } },
  },
  responses: {
    200: json('The conversation; moved, with what that means for its sessions', UpdatedConversation),
    default: failure,
  },
})

const planMove = createRoute({
  method: 'get',
  path: '/api/conversations/{id}/move',
  summary: 'What it would mean for its sessions to move it to another directory',
  request: { params: ConversationPath, query: MoveQuery },
  responses: { 200: json('Nothing is changed', ConversationMove), default: failure },
})

const remove = createRoute({
  method: 'delete',
  path: '/api/conversations/{id}',
  summary: 'Deletes a conversation; its open runs are cancelled, settled ones stay as records',
  request: { params: ConversationPath },
  responses: { 204: { description: 'It is gone' }, default: failure },
})

export function addConversationRoutes(app: OpenAPIHono, engine: Engine): void {
  app.openapi(create, async (c) => {
    const conversation = await engine.createConversation(c.req.valid('json'))
    c.header('Location', `/api/conversations/${conversation.id}`)
    return c.json(conversation, 201)
  })
  app.openapi(list, async (c) => c.json(await engine.listConversations(c.req.valid('query')), 200))
  app.openapi(get, async (c) => c.json(await engine.getConversation(c.req.valid('param').id), 200))
  app.openapi(update, async (c) =>
    c.json(await engine.updateConversation(c.req.valid('param').id, c.req.valid('json')), 200),
  )
  app.openapi(planMove, async (c) =>
    c.json(await engine.planMove(c.req.valid('param').id, c.req.valid('query').workDir), 200),
  )
  app.openapi(remove, async (c) => {
    await engine.deleteConversation(c.req.valid('param').id)
    return c.body(null, 204)
  })
}
