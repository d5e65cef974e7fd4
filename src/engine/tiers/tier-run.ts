/** A run at a tier: what the tier says, bounded by what is left for the whole chain. */

import type { CreateRun } from '../../contract/create-run.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Clock } from '../../core/clock.ts'
import type { Tier } from '../../core/escalation/tier.ts'
import type { NewRun, RunRecord } from '../../store/runs/records.ts'
import type { LaterPrompt } from '../base/purpose.ts'
import type { EscalationSettings } from '../base/settings.ts'
import { buildRun } from '../path/build-run.ts'
import type { Checked } from '../path/check-request.ts'
import { turnLimitsOf } from '../path/turn-limits.ts'
import { highestTier, requireChain, requireTier, type TierDeps } from './tiers.ts'

export interface TierRunDeps {
  agents: TierDeps['agents']
  clock: Clock
  settings: { escalation: EscalationSettings; dryRun: boolean }
}

const ONLY_WITH_TIER = ['maxTier', 'environment', 'approved'] as const

/** Throws if a request without a tier has options that need a tier. */
export function refuseTierOptions(request: CreateRun): void {
  for (const name of ONLY_WITH_TIER) {
    if (request[name] !== undefined) {
      throw new RepriseError('bad-request', `${name}: requires tier`)
    }
  }
}

/** The first run of a chain. */
export function firstTierRun(deps: TierRunDeps, request: CreateRun, { agent, session }: Checked): NewRun {
  const { escalation } = deps.settings
  const tier = requireTier(deps, request.tier ?? 1, agent)
  if (tier.tools.length === 0) {
    throw new RepriseError('bad-request', `tier: tier ${tier.number} has no tools for the agent ${agent}`, {
      hint: `Name them under tiers.${tier.number}.tools.${agent} in the configuration.`,
    })
  }
  const maxTier = Math.min(request.maxTier ?? escalation.maxTier, escalation.maxTier, highestTier(deps))
  if (maxTier < tier.number) {
    throw new RepriseError('bad-request', `tier: ${tier.number} is above the highest allowed, ${maxTier}`, {
      hint: 'Lower tier, or raise maxTier in the request and in the configuration.',
    })
  }
  const dryRun = request.dryRun || deps.settings.dryRun
  if (tier.approval && !request.approved && !dryRun) {
    throw new RepriseError('bad-request', `tier: tier ${tier.number} needs approval`, {
      hint: 'Start at a lower tier and approve the escalation later, or approve it with the request (approved: true, --approved).',
    })
  }
  for (const name of ['permissions', 'model', 'maxDurationMs'] as const) {
    if (request[name] !== undefined) {
      throw new RepriseError('bad-request', `${name}: is defined by the tier`, {
        hint: `Leave it out, or change it under tiers.${tier.number} in the configuration.`,
      })
    }
  }
  const chain = {
    maxTier,
    budgetUsd: request.maxBudgetUsd ?? escalation.budgetUsd,
    environment: request.environment ?? null,
  }
  return buildRun({
    ...atTier(deps, tier),
    agent,
    workDir: request.workDir,
    prompt: request.prompt,
    request: {
      ...requestOf(tier, chain.budgetUsd),
      forceFreshSession: request.forceFreshSession ?? false,
      maxResumes: request.maxResumes ?? null,
      ...turnLimitsOf(request),
      ...(dryRun ? { dryRun: true } : {}),
      sandbox: request.sandbox,
      chain,
    },
    sessionId: session,
    tier: { number: tier.number, parentRunId: null },
  })
}

/**
 * The run of the next tier, which continues the work of `before` in its session. Its request contains the whole budgets of
 * the tier and the chain; the spend of other runs is subtracted when it runs (budget.ts).
 */
export function nextTierRun(deps: TierRunDeps, before: RunRecord, toTier: number): NewRun {
  const { chain } = before.request
  if (!chain) throw new Error(`run ${before.id} belongs to no chain`)
  const tier = requireTier(deps, toTier, before.agent)
  return buildRun({
    ...atTier(deps, tier),
    agent: before.agent,
    workDir: before.workDir,
    prompt: chain.task ?? before.prompt,
    request: {
      ...before.request,
      ...requestOf(tier, chain.budgetUsd),
      forceFreshSession: false,
      ...(before.request.dryRun || deps.settings.dryRun ? { dryRun: true } : {}),
    },
    sessionId: before.sessionId,
    tier: { number: tier.number, parentRunId: before.id },
    cycleId: before.links.cycleId,
  })
}

/** The run of a follow-up, at the tier and in the session of the run that planned it. */
export function laterTierRun(
  deps: TierRunDeps,
  before: RunRecord,
  { followUpId, prompt, promptId }: LaterPrompt,
): NewRun {
  const { tier, chain } = requireChain(deps, before)
  const run = nextTierRun(deps, before, tier.number)
  const request = { ...run.request, chain: { ...chain, task: chain.task ?? before.prompt } }
  return { ...run, prompt, promptId, request, followUpId }
}

const atTier = ({ clock }: TierRunDeps, { model }: Tier) => ({ model, createdAt: clock.now() })

function requestOf(tier: Tier, chainUsd: number | null) {
  const budgets = [tier.budgetUsd, chainUsd].filter((usd) => usd !== null)
  return {
    // The rules decide about every call.
    permissions: 'ask-all' as const,
    maxDurationMs: tier.maxDurationMs,
    maxBudgetUsd: budgets.length > 0 ? Math.min(...budgets) : null,
  }
}
