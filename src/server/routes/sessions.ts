/** Sessions of the agents. */
import type { Engine } from '../../engine/api.ts'
import { type Handlers, respond, respondEmpty } from '../base/handler.ts'

export function sessionHandlers(
  engine: Engine,
): Pick<Handlers, 'listSessions' | 'getSession' | 'deleteSession' | 'listAdoptable' | 'adoptSessions'> {
  return {
    listSessions: async ({ query }) => respond(200, await engine.listSessions(query)),
    listAdoptable: async ({ query }) => respond(200, await engine.listAdoptable(query)),
    adoptSessions: async ({ body }) => respond(200, { items: await engine.adoptSessions(body) }),
    getSession: async ({ params }) => respond(200, await engine.getSession(params.id)),
    deleteSession: async ({ params }) => {
      await engine.deleteSession(params.id)
      return respondEmpty(204)
    },
  }
}
