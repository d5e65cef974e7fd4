/** Follow-ups: planning, reading and cancelling them. */
import type { FollowUpEngine } from '../../engine/follow-ups/api.ts'
import { type Handlers, respond } from '../base/handler.ts'

type FollowUpHandlers = Pick<Handlers, 'createFollowUp' | 'listFollowUps' | 'getFollowUp' | 'cancelFollowUp'>

export function followUpHandlers(engine: FollowUpEngine): FollowUpHandlers {
  return {
    createFollowUp: async ({ body, headers }) => {
      const followUp = await engine.createFollowUp(body, headers['idempotency-key'] ?? null)
      return respond(201, followUp, { Location: `/api/followups/${followUp.id}` })
    },
    listFollowUps: async ({ query }) => respond(200, await engine.listFollowUps(query)),
    getFollowUp: async ({ params }) => respond(200, await engine.getFollowUp(params.id)),
    cancelFollowUp: async ({ params }) => respond(200, await engine.cancelFollowUp(params.id)),
  }
}
