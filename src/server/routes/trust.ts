/** Trust in directories. */
import type { Engine } from '../../engine/api.ts'
import { type Handlers, respond, respondEmpty } from '../base/handler.ts'

export function trustHandlers(
  engine: Pick<Engine, 'inspectTrust' | 'listTrust' | 'decideTrust' | 'revokeTrust'>,
): Pick<Handlers, 'inspectTrust' | 'listTrust' | 'decideTrust' | 'revokeTrust'> {
  return {
    inspectTrust: async ({ query }) => respond(200, await engine.inspectTrust(query.dir)),
    listTrust: async () => respond(200, { items: await engine.listTrust(), nextCursor: null }),
    decideTrust: async ({ body }) => respond(200, await engine.decideTrust(body)),
    revokeTrust: async ({ query }) => {
      await engine.revokeTrust(query.dir)
      return respondEmpty(204)
    },
  }
}
