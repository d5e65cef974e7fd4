/** Chains of runs, and the approvals they wait for. */
import type { Chain } from '../contract/chain.ts'
import type { Approval, Escalation } from '../contract/escalation.ts'
import type { Page } from '../contract/http.ts'
import type { Call } from './request.ts'

export interface EscalationCalls {
  /** Every run that escalation has linked to this one, root first. */
  getChain: (id: string) => Promise<Chain>
  /** Tiers that wait for a person, the most pressing first. */
  listApprovals: () => Promise<Escalation[]>
  decideApproval: (id: string, approval: Approval) => Promise<Escalation>
}

export function escalationCalls(call: <T>(request: Call) => Promise<T>): EscalationCalls {
  const run = (id: string, action: string) => `/api/runs/${encodeURIComponent(id)}/${action}`
  return {
    getChain: (id) => call({ path: run(id, 'chain') }),
    listApprovals: async () => (await call<Page<Escalation>>({ path: '/api/approvals' })).items,
    decideApproval: (id, body) => call({ method: 'POST', path: run(id, 'approval'), body }),
  }
}
