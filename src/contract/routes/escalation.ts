import { Chain } from '../chain.ts'
import { Approval, Escalation } from '../escalation.ts'
import { page } from '../http.ts'
import { RunPath } from './parameters.ts'
import { type FeatureRoutes, json } from './route.ts'

export const escalationRoutes = {
  getChain: {
    tag: 'escalation',
    summary: 'Returns every run that escalation has linked to this one, root first, and their total cost',
    params: RunPath,
    responses: { 200: json('The chain', Chain) },
    errors: ['not-found'],
  },
  listApprovals: {
    tag: 'escalation',
    summary: 'Lists tiers that wait for approval by a person, the most urgent first',
    responses: { 200: json('All of them', page(Escalation)) },
  },
  decideApproval: {
    tag: 'escalation',
    summary: 'Approves or refuses the tier that would follow this run',
    scope: 'answer',
    params: RunPath,
    body: Approval,
    responses: { 200: json('What was decided', Escalation) },
    errors: ['not-found', 'conflict'],
  },
} satisfies FeatureRoutes
