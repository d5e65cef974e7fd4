/** A run at a tier: unattended, restricted by rules, briefed about its role, and perhaps followed by the next tier. */
import type { EventOf } from '../../contract/events.ts'
import { concludes, readRecommendation, signalSchema } from '../../core/escalation/signal.ts'
import type { Store } from '../../store/store.ts'
import type { RunPurpose } from '../base/purpose.ts'
import { type ContextDeps, readSessionContext } from '../path/context.ts'
import { type BriefDeps, consumeHandoff, readTierBrief } from './brief.ts'
import { readTierAllowance } from './budget.ts'
import { readTierEnding, type TierEndingDeps } from './ending.ts'
import { readPauseNotices } from './tell.ts'
import { laterTierRun } from './tier-run.ts'
import { requireChain, rulesOfTier } from './tiers.ts'

export type TierPurposeDeps = ContextDeps &
  BriefDeps &
  TierEndingDeps & {
    store: Pick<Store, 'effects' | 'getEscalation'>
    /** Called when a tier waits for approval. */
    onAsk: () => void
  }

export function createTierPurpose(deps: TierPurposeDeps, plain: RunPurpose): RunPurpose {
  return {
    ...plain,
    name: 'tier',
    claims: ({ links }) => links.tier !== null,
    unattended: true,

    readContext: async (run) => {
      const environment = run.request.chain?.environment ?? null
      const context = await readSessionContext(deps, run, { standing: environment })
      return { ...context, readBrief: (facts) => readTierBrief(deps, context.run, facts) }
    },
    planAgent: (run) => {
      const { tools, deniedTools = [] } = requireChain(deps, run).tier
      return { tools: tools.filter((tool) => !deniedTools.includes(tool)), schema: signalSchema() }
    },
    rulesOf: ({ agent, links }) => (links.tier === null ? null : rulesOfTier(deps, links.tier, agent)),
    contextWindowOf: ({ agent, links }) => rulesOfTier(deps, links.tier ?? 0, agent).contextWindow,

    readAllowance: (run) => readTierAllowance(deps.store, run),

    afterAttempt: async (run, { tookPrompt }) => {
      if (tookPrompt && run.links.parentRunId) await consumeHandoff(deps, run.id)
      return []
    },

    judge: (outcome, exitCode) => concludes(outcome, exitCode),
    readEnding: async ({ run, settled, attempt }) => {
      const tier = settled && (await readTierEnding(deps, { run, settled, ending: attempt }))
      return tier ? [deps.store.effects.escalate(tier)] : []
    },
    afterSettled: async ({ id }) => {
      if ((await deps.store.getEscalation(id))?.decision === 'ask') deps.onAsk()
    },

    readPauseNotices: (run, why) => readPauseNotices(deps, run, why),

    keepsProcess: (_, end) => !wantsToEscalate(end),
    laterRun: async (before, later) => ({ run: laterTierRun(deps, before, later) }),
  }
}

/** A run that escalates ends now, even if it has planned follow-ups. */
const wantsToEscalate = ({ structured, text }: EventOf<'turn-end'>) =>
  readRecommendation({ structured, text: text ?? null, exitCode: null }).escalate === true
