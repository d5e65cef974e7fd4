/**
 * Decides what follows when a run at a tier settles: reads its recommendation, decides, and plans the next tier's run.
 */
import type { Recommendation } from '../../contract/escalation.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { decideEscalation } from '../../core/escalation/decide.ts'
import { type Ending, readRecommendation } from '../../core/escalation/signal.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { EscalationRecord, TierEnding } from '../../store/tiers/records.ts'
import type { Cooldowns } from '../enforce/cooldowns.ts'
import { spentByChain } from './budget.ts'
import { readTierNotices, type TellDeps } from './tell.ts'
import { nextTierRun, type TierRunDeps } from './tier-run.ts'
import type { TierDeps } from './tiers.ts'

export type TierEndingDeps = TierRunDeps & TellDeps & { cooldowns: Pick<Cooldowns, 'exhausted'> }

export interface TierEndingInput {
  /** The run as it will be stored, including its total spend. */
  run: RunRecord
  settled: Outcome
  /** The result of its last attempt; null if it had none. */
  ending: Ending | null
}

export async function readTierEnding(
  deps: TierEndingDeps,
  { run, settled, ending }: TierEndingInput,
): Promise<TierEnding | null> {
  const { tier } = run.links
  const { chain } = run.request
  if (tier === null || !chain) return null
  // A run may complete although it was cancelled; nothing follows from it then.
  const outcome: Outcome = run.cancelRequested ? { name: 'cancelled', message: 'cancelled' } : settled
  const { settings, clock } = deps
  const recommendation: Recommendation = readRecommendation(
    ending ?? { structured: undefined, text: null, exitCode: null },
  )
  const spentUsd = await spentByChain(deps.store, run)
  const maxTier = Math.min(chain.maxTier, settings.escalation.maxTier, ...missingAbove(deps, tier))
  const next = settings.escalation.tiers.get(tier + 1)
  const decision = decideEscalation({
    outcome,
    recommendation,
    tier,
    maxTier,
    approval: next?.approval ?? false,
    dryRun: run.request.dryRun === true,
    chain: { budgetUsd: chain.budgetUsd, spentUsd },
    exhausted: await deps.cooldowns.exhausted(recommendation.signal?.services ?? []),
  })
  const at = clock.now()
  const nextRun = decision.kind === 'escalate' ? nextTierRun(deps, run, decision.toTier) : null
  const escalation: EscalationRecord = {
    runId: run.id,
    tier,
    decision: decision.kind,
    reason: decision.reason,
    message: decision.message,
    toTier: decision.kind === 'stop' ? null : decision.toTier,
    nextRunId: nextRun?.id ?? null,
    recommendation,
    decidedBy: 'rules',
    decidedAt: at,
    expiresAt:
      decision.kind === 'ask' ? new Date(at.getTime() + settings.escalation.approvalTimeoutMs) : null,
  }
  return { escalation, next: nextRun, notices: await readTierNotices(deps, run, escalation) }
}

/** If the next tier was removed from the configuration, the run's own tier is the highest. */
const missingAbove = ({ settings }: TierDeps, tier: number) =>
  settings.escalation.tiers.has(tier + 1) ? [] : [tier]
