/** Sessions of the agents. */
import type { Engine } from '../../engine/api.ts'
import { type Handlers, respond } from '../base/handler.ts'

export function sessionHandlers(engine: Engine): Pick<Handlers, 'listSessions' | 'getSession'> {
  return {
    listSessions: async ({ query }) => respond(200, await engine.listSessions(query)),
    getSession: async ({ params }) => respond(200, await engine.getSession(params.id)),
  }
}
