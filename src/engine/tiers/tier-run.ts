/** A run at a tier: what the tier says, bounded by what is left for the whole chain. */
import { randomUUID } from 'node:crypto'
import type { TierPlan } from '../../agents/adapter.ts'
import { RepriseError } from '../../contract/errors.ts'
import { type FollowUpId, RunId } from '../../contract/ids.ts'
import type { CreateRun } from '../../contract/run.ts'
import { signalSchema } from '../../core/escalation/signal.ts'
import type { Tier } from '../../core/escalation/tier.ts'
import type { NewRun, RunRecord } from '../../store/base/records.ts'
import type { EngineParts } from '../parts.ts'
import type { Checked } from '../path/check-request.ts'
import { turnLimitsOf } from '../path/turn-limits.ts'

type Parts = Pick<EngineParts, 'clock' | 'settings'>

/** The first of a chain. */
export function firstTierRun(parts: Parts, request: CreateRun, { agent, session }: Checked): NewRun {
  const { escalation } = parts.settings
  const tier = requireTier(parts, request.tier ?? 1)
  const maxTier = Math.min(request.maxTier ?? escalation.maxTier, escalation.maxTier, highestTier(parts))
  if (maxTier < tier.number) {
    throw new RepriseError('bad-request', `tier: ${tier.number} is above the highest allowed, ${maxTier}`, {
      hint: 'Lower tier, or raise maxTier in the request and in the configuration.',
    })
  }
  const dryRun = request.dryRun || parts.settings.dryRun
  if (tier.approval && !request.approved && !dryRun) {
    throw new RepriseError('bad-request', `tier: tier ${tier.number} needs approval`, {
      hint: 'Start at a lower tier and be asked, or approve it with the request (approved: true, --approved).',
    })
  }
  for (const name of ['permissions', 'model', 'maxDurationMs'] as const) {
    if (request[name] !== undefined) {
      throw new RepriseError('bad-request', `${name}: is decided by the tier`, {
        hint: `Leave it out, or change it under tiers.${tier.number} in the configuration.`,
      })
    }
  }
  const chain = {
    maxTier,
    budgetUsd: request.maxBudgetUsd ?? escalation.budgetUsd,
    environment: request.environment ?? null,
  }
  return {
    ...atTier(parts, tier),
    agent,
    workDir: request.workDir,
    prompt: request.prompt,
    request: {
      ...requestOf(tier, chain.budgetUsd),
      forceFreshSession: request.forceFreshSession ?? false,
      maxResumes: request.maxResumes ?? null,
      ...turnLimitsOf(request),
      ...(dryRun ? { dryRun: true } : {}),
      chain,
    },
    sessionId: session,
    tier: { number: tier.number, parentRunId: null },
  }
}

/** The one that takes over from `before`, in its session. */
export function nextTierRun(parts: Parts, before: RunRecord, toTier: number, spentUsd: number): NewRun {
  const { chain } = before.request
  if (!chain) throw new Error(`run ${before.id} belongs to no chain`)
  const tier = requireTier(parts, toTier)
  const left = chain.budgetUsd === null ? null : Math.max(0, chain.budgetUsd - spentUsd)
  return {
    ...atTier(parts, tier),
    agent: before.agent,
    workDir: before.workDir,
    prompt: chain.task ?? before.prompt,
    request: {
      ...before.request,
      ...requestOf(tier, left),
      forceFreshSession: false,
      ...(before.request.dryRun || parts.settings.dryRun ? { dryRun: true } : {}),
    },
    sessionId: before.sessionId,
    tier: { number: tier.number, parentRunId: before.id },
    cycleId: before.links.cycleId,
  }
}

/**
 * The one that has a follow-up's prompt: at the tier, and in the session, of the one that planned it. Its request names
 * the whole budgets of the tier and the chain; what others have spent of them is taken off when it runs (allowance.ts).
 */
export function followUpTierRun(
  parts: Parts,
  before: RunRecord,
  { id, prompt }: { id: FollowUpId; prompt: string },
): NewRun {
  const { chain } = before.request
  if (!chain || before.links.tier === null) throw new Error(`run ${before.id} belongs to no chain`)
  const run = nextTierRun(parts, before, before.links.tier, 0)
  const request = { ...run.request, chain: { ...chain, task: chain.task ?? before.prompt } }
  return { ...run, prompt, request, followUpId: id }
}

function atTier({ clock }: Parts, tier: Tier) {
  const now = clock.now()
  return {
    id: RunId.create(now),
    idempotencyKey: null,
    model: tier.model,
    promptId: randomUUID(),
    createdAt: now,
  }
}

function requestOf(tier: Tier, leftUsd: number | null) {
  const budgets = [tier.budgetUsd, leftUsd].filter((usd) => usd !== null)
  return {
    // Every call is decided: by the rules.
    permissions: 'ask-all' as const,
    maxDurationMs: tier.maxDurationMs,
    maxBudgetUsd: budgets.length > 0 ? Math.min(...budgets) : null,
  }
}

export const highestTier = ({ settings }: Pick<EngineParts, 'settings'>): number =>
  Math.max(...settings.escalation.tiers.keys())

export function requireTier({ settings }: Pick<EngineParts, 'settings'>, number: number): Tier {
  const tier = settings.escalation.tiers.get(number)
  if (tier) return tier
  const known = [...settings.escalation.tiers.keys()].join(', ')
  throw new RepriseError('bad-request', `tier: there is no tier ${number}`, { hint: `Tiers: ${known}.` })
}

export function planOfTier(parts: Pick<EngineParts, 'settings'>, number: number): TierPlan {
  const { tools, deniedTools = [] } = requireTier(parts, number)
  return { tools: tools.filter((tool) => !deniedTools.includes(tool)), schema: signalSchema() }
}
