/** Finds the configured tiers, and the tier and chain that a run belongs to. */
import { RepriseError } from '../../contract/errors.ts'
import type { Tier } from '../../core/escalation/tier.ts'
import type { ChainLimits, RunRecord } from '../../store/base/records.ts'
import type { EscalationSettings } from '../base/settings.ts'

export interface TierSettings {
  settings: { escalation: EscalationSettings }
}

export const highestTier = ({ settings }: TierSettings): number =>
  Math.max(...settings.escalation.tiers.keys())

export function requireTier({ settings }: TierSettings, number: number): Tier {
  const tier = settings.escalation.tiers.get(number)
  if (tier) return tier
  const known = [...settings.escalation.tiers.keys()].join(', ')
  throw new RepriseError('bad-request', `tier: there is no tier ${number}`, { hint: `Tiers: ${known}.` })
}

/** The tier that a run works at, and what holds for its whole chain. */
export function requireChain(settings: TierSettings, run: RunRecord): { tier: Tier; chain: ChainLimits } {
  const { chain } = run.request
  if (run.links.tier === null || !chain) throw new Error(`run ${run.id} belongs to no chain`)
  return { tier: requireTier(settings, run.links.tier), chain }
}
