/** Finds the configured tiers, and the tier and chain that a run belongs to. */
import type { AgentRegistry } from '../../agents/registry.ts'
import { RepriseError } from '../../contract/errors.ts'
import { type Tier, tierFor } from '../../core/escalation/tier.ts'
import type { ChainLimits, RunRecord } from '../../store/runs/records.ts'
import type { EscalationSettings } from '../base/settings.ts'

export interface TierDeps {
  agents: Pick<AgentRegistry, 'likelyAdapter'>
  settings: { escalation: EscalationSettings }
}

export const highestTier = ({ settings }: Pick<TierDeps, 'settings'>): number =>
  Math.max(...settings.escalation.tiers.keys())

/** The tier as it is for the agent. */
export function requireTier({ agents, settings }: TierDeps, number: number, agent: string): Tier {
  const tier = settings.escalation.tiers.get(number)
  if (tier) return tierFor(tier, { name: agent, adapter: agents.likelyAdapter(agent).name })
  const known = [...settings.escalation.tiers.keys()].join(', ')
  throw new RepriseError('bad-request', `tier: there is no tier ${number}`, { hint: `Tiers: ${known}.` })
}

/** The tier that a run works at, and what holds for its whole chain. */
export function requireChain(deps: TierDeps, run: RunRecord): { tier: Tier; chain: ChainLimits } {
  const { chain } = run.request
  if (run.links.tier === null || !chain) throw new Error(`run ${run.id} belongs to no chain`)
  return { tier: requireTier(deps, run.links.tier, run.agent), chain }
}
