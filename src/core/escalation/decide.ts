/**
 * Whether the next tier takes over when a run at a tier has ended. One tier at a time. Everything has a reason, also
 * that nothing is done.
 */
import type { EscalationReason, Recommendation } from '../../contract/escalation.ts'
import type { Outcome } from '../../contract/outcome.ts'

export interface EscalationFacts {
  outcome: Outcome
  recommendation: Recommendation
  tier: number
  /** The highest this chain may reach. */
  maxTier: number
  /** Whether a person must agree before the next tier starts. */
  approval: boolean
  /** Nothing can be changed: nobody needs to agree to that. */
  dryRun: boolean
  chain: { budgetUsd: number | null; spentUsd: number }
  /** Services for which every kind of action is used up for now, with the time when the first is free again. */
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
    const next = 'Nothing follows by itself: look at what its agent said, then ask again'
    return stop('quarantined', `tier ${tier} is held: ${outcome.message}. ${next}`)
  }
  if (outcome.name !== 'completed') return stop('failed', `tier ${tier} did not finish: ${outcome.message}`)
  if (recommendation.escalate === null) {
    return stop('no-recommendation', recommendation.problem ?? `tier ${tier} gave no signal`)
  }
  const why = recommendation.signal?.reason || 'no reason was given'
  if (!recommendation.escalate) return stop('not-recommended', `tier ${tier} sees nothing more to do: ${why}`)
  if (tier >= maxTier)
    return stop('max-tier', `tier ${tier} recommends it, but tier ${maxTier} is the highest: ${why}`)
  if (chain.budgetUsd !== null && chain.spentUsd >= chain.budgetUsd) {
    const [spent, budget] = [chain.spentUsd, chain.budgetUsd].map((usd) => `$${usd.toFixed(4)}`)
    return stop('budget', `${spent} of the ${budget} for all tiers are spent`)
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

/** A tier that could do nothing for any of the services is not worth its price. */
function heldBack({ recommendation, exhausted }: EscalationFacts): string | null {
  const services = recommendation.signal?.services ?? []
  const held = services.map((service) => exhausted.find((e) => e.service === service))
  if (services.length === 0 || held.some((h) => h === undefined)) return null
  const freeAt = new Date(Math.min(...held.map((h) => h?.freeAt.getTime() ?? 0)))
  return `everything that may be done to ${services.join(', ')} has been done as often as allowed; again from ${freeAt.toISOString()}`
}
