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

/** The settings of the tier for the agent. */
export function requireTier({ agents, settings }: TierDeps, number: number, agent: string): Tier {
  const tier = settings.escalation.tiers.get(number)
  if (tier) return tierFor(tier, { name: agent, adapter: agents.likelyAdapter(agent).name })
  const known = [...settings.escalation.tiers.keys()].join(', ')
  throw new RepriseError('bad-request', `tier: there is no tier ${number}`, { hint: `Tiers: ${known}.` })
}

/** False if the tier of the run was removed from the configuration after the run began. */
export const isConfigured = ({ settings }: Pick<TierDeps, 'settings'>, { links }: RunRecord): boolean =>
  links.tier !== null && settings.escalation.tiers.has(links.tier)

/**
 * The rules for an agent at the tier. If the tier was removed from the configuration, its rules are unknown: the agent
 * keeps only the tools that it needs to report.
 */
export const rulesOfTier = (deps: TierDeps, number: number, agent: string): Tier =>
  deps.settings.escalation.tiers.has(number) ? requireTier(deps, number, agent) : { ...NO_TIER, number }

const NO_TIER: Omit<Tier, 'number'> = {
  name: 'no longer configured',
  tools: [],
  allow: [],
  model: '',
  prompt: null,
  approval: true,
  budgetUsd: null,
  maxDurationMs: null,
  contextWindow: null,
  files: { write: [], hidden: [] },
  network: 'open',
}

/** The tier of a run, and the limits of its chain. */
export function requireChain(deps: TierDeps, run: RunRecord): { tier: Tier; chain: ChainLimits } {
  const { chain } = run.request
  if (run.links.tier === null || !chain) throw new Error(`run ${run.id} belongs to no chain`)
  return { tier: requireTier(deps, run.links.tier, run.agent), chain }
}
