/** Sessions of the agents. */
import type { Engine } from '../../engine/api.ts'
import { type Handlers, respond } from '../base/handler.ts'

export function sessionHandlers(
  engine: Engine,
): Pick<Handlers, 'listSessions' | 'getSession' | 'listAdoptable' | 'adoptSessions'> {
  return {
    listSessions: async ({ query }) => respond(200, await engine.listSessions(query)),
    listAdoptable: async ({ query }) => respond(200, await engine.listAdoptable(query)),
    adoptSessions: async ({ body }) => respond(200, { items: await engine.adoptSessions(body) }),
    getSession: async ({ params }) => respond(200, await engine.getSession(params.id)),
  }
}
