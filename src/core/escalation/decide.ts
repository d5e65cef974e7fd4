/**
 * Decides whether the next tier takes over when a run at a tier has ended. A chain moves up one tier at a time. Every
 * decision has a reason, including the decision to stop.
 */
import type { EscalationReason, Recommendation } from '../../contract/escalation.ts'
import type { Outcome } from '../../contract/outcome.ts'

export interface EscalationFacts {
  outcome: Outcome
  recommendation: Recommendation
  tier: number
  /** The highest tier that this chain may reach. */
  maxTier: number
  /** Whether a person must approve the next tier before it starts. */
  approval: boolean
  /** A dry run changes nothing, so it needs no approval. */
  dryRun: boolean
  chain: { budgetUsd: number | null; spentUsd: number }
  /** Services for which every cooldown is used up, with the time when the first action is allowed again. */
  exhausted: readonly { service: string; freeAt: Date }[]
}

export type EscalationDecision =
  | { kind: 'escalate'; toTier: number; reason: EscalationReason; message: string }
  | { kind: 'ask'; toTier: number; reason: EscalationReason; message: string }
  | { kind: 'stop'; reason: EscalationReason; message: string }

export function decideEscalation(facts: EscalationFacts): EscalationDecision {
  const { outcome, recommendation, tier, maxTier, chain } = facts
  if (outcome.name === 'cancelled') return stop('cancelled', 'the run was cancelled')
  if (outcome.name === 'budget') return stop('budget', outcome.message)
  if (outcome.name === 'quarantined') {
    const next = 'The chain ends here: look at the output of the agent before you start it again'
    return stop('quarantined', `tier ${tier} is held back: ${outcome.message}. ${next}`)
  }
  if (outcome.name !== 'completed') return stop('failed', `tier ${tier} did not finish: ${outcome.message}`)
  if (recommendation.escalate === null) {
    return stop('no-recommendation', recommendation.problem ?? `tier ${tier} gave no signal`)
  }
  const why = recommendation.signal?.reason || 'no reason was given'
  if (!recommendation.escalate)
    return stop('not-recommended', `tier ${tier} does not recommend escalation: ${why}`)
  if (tier >= maxTier)
    return stop('max-tier', `tier ${tier} recommends escalation, but tier ${maxTier} is the highest: ${why}`)
  if (chain.budgetUsd !== null && chain.spentUsd >= chain.budgetUsd) {
    const [spent, budget] = [chain.spentUsd, chain.budgetUsd].map((usd) => `$${usd.toFixed(4)}`)
    return stop('budget', `the budget of ${budget} for all tiers is used up (${spent} spent)`)
  }
  const held = heldBack(facts)
  if (held) return stop('cooldown', held)
  const toTier = tier + 1
  return facts.approval && !facts.dryRun
    ? { kind: 'ask', toTier, reason: 'approval-needed', message: `tier ${toTier} needs approval: ${why}` }
    : { kind: 'escalate', toTier, reason: 'recommended', message: why }
}

const stop = (reason: EscalationReason, message: string): EscalationDecision => ({
  kind: 'stop',
  reason,
  message,
})

/** The next tier would only cost money if the cooldowns allow no action for any of the services. */
function heldBack({ recommendation, exhausted }: EscalationFacts): string | null {
  const services = recommendation.signal?.services ?? []
  const held = services.map((service) => exhausted.find((e) => e.service === service))
  if (services.length === 0 || held.some((h) => h === undefined)) return null
  const freeAt = new Date(Math.min(...held.map((h) => h?.freeAt.getTime() ?? 0)))
  return `the cooldowns allow no further action on ${services.join(', ')} before ${freeAt.toISOString()}`
}
