/** Sessions of the agents. */
import type { Engine } from '../../engine/api.ts'
import { type Handlers, respond, respondEmpty } from '../base/handler.ts'

export function sessionHandlers(
  engine: Engine,
): Pick<Handlers, 'listSessions' | 'getSession' | 'deleteSession'> {
  return {
    listSessions: async ({ query }) => respond(200, await engine.listSessions(query)),
    getSession: async ({ params }) => respond(200, await engine.getSession(params.id)),
    deleteSession: async ({ params }) => {
      await engine.deleteSession(params.id)
      return respondEmpty(204)
    },
  }
}
