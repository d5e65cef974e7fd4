/** Chains of runs, and the approvals that they wait for. */
import type { Engine } from '../../engine/api.ts'
import { type Handlers, respond } from '../base/handler.ts'

type EscalationHandlers = Pick<Handlers, 'getChain' | 'listApprovals' | 'decideApproval'>

export function escalationHandlers(engine: Engine): EscalationHandlers {
  return {
    getChain: async ({ params }) => respond(200, await engine.getChain(params.id)),
    listApprovals: async () => respond(200, { items: await engine.listApprovals(), nextCursor: null }),
    decideApproval: async ({ params, body }) => respond(200, await engine.decideApproval(params.id, body)),
  }
}
