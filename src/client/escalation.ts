/** Chains of runs, and the approvals that they wait for. */
import type { Chain } from '../contract/chain.ts'
import type { Approval, Escalation } from '../contract/escalation.ts'
import type { Request } from './request.ts'

export interface EscalationCalls {
  /** Every run that escalation has linked to this one, root first. */
  getChain: (id: string) => Promise<Chain>
  /** Tiers that wait for a person, the most urgent first. */
  listApprovals: () => Promise<Escalation[]>
  decideApproval: (id: string, approval: Approval) => Promise<Escalation>
}

export function escalationCalls(request: Request): EscalationCalls {
  return {
    getChain: (id) => request('getChain', { params: { id } }),
    listApprovals: async () => (await request('listApprovals')).items,
    decideApproval: (id, body) => request('decideApproval', { params: { id }, body }),
  }
}
