/** Conversations, their turns and their messages. */
import type { Run } from '../../contract/run.ts'
import type { Engine } from '../../engine/api.ts'
import { type Handlers, respond, respondEmpty } from '../base/handler.ts'

type ConversationHandlers = Pick<
  Handlers,
  | 'createConversation'
  | 'listConversations'
  | 'getConversation'
  | 'updateConversation'
  | 'planMove'
  | 'planTurn'
  | 'warmConversation'
  | 'deleteConversation'
  | 'createTurn'
  | 'editMessage'
  | 'truncateConversation'
  | 'retryTurn'
  | 'forkConversation'
>

export function conversationHandlers(engine: Engine): ConversationHandlers {
  return {
    createConversation: async ({ body }) => {
      const conversation = await engine.createConversation(body)
      return respond(201, conversation, { Location: `/api/conversations/${conversation.id}` })
    },
    listConversations: async ({ query }) => respond(200, await engine.listConversations(query)),
    getConversation: async ({ params }) => respond(200, await engine.getConversation(params.id)),
    updateConversation: async ({ params, body }) =>
      respond(200, await engine.updateConversation(params.id, body)),
    planMove: async ({ params, query }) => respond(200, await engine.planMove(params.id, query.workDir)),
    planTurn: async ({ params, query: { agent, forceFreshSession } }) =>
      respond(
        200,
        await engine.planTurn(params.id, { agent, forceFreshSession: forceFreshSession === 'true' }),
      ),
    warmConversation: async ({ params, body }) =>
      respond(200, await engine.warmConversation(params.id, body ?? {})),
    deleteConversation: async ({ params }) => {
      await engine.deleteConversation(params.id)
      return respondEmpty(204)
    },
    createTurn: async ({ params, body, headers }) =>
      acceptedTurn(await engine.createTurn(params.id, body, headers['idempotency-key'] ?? null)),
    editMessage: async ({ params, body }) =>
      respond(200, await engine.editMessage(params.id, params.mid, body.text)),
    truncateConversation: async ({ params }) => respond(200, await engine.truncate(params.id, params.mid)),
    forkConversation: async ({ params, body }) => {
      const fork = await engine.forkConversation(params.id, body)
      return respond(201, fork, { Location: `/api/conversations/${fork.id}` })
    },
    retryTurn: async ({ params, body, headers }) =>
      acceptedTurn(await engine.retryFrom(params.id, params.mid, body, headers['idempotency-key'] ?? null)),
  }
}

const acceptedTurn = ({ run, created }: { run: Run; created: boolean }) =>
  respond(created ? 202 : 200, { run }, { Location: `/api/runs/${run.id}` })
