/** The texts for a run at a tier besides its task, including a handoff if its session cannot be resumed. */

import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Handoff } from '../../contract/escalation.ts'
import type { RunId } from '../../contract/ids.ts'
import { tierTexts } from '../../core/escalation/added-texts.ts'
import { composeBrief } from '../../core/escalation/brief.ts'
import { CommandLog, composeHandoff, handoffText } from '../../core/escalation/handoff.ts'
import { NOTHING_ADDED } from '../../core/prompt/added-texts.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { scanEvents } from '../base/events.ts'
import { withPolicy } from '../base/policy.ts'
import type { Brief, BriefFacts } from '../base/purpose.ts'
import type { EscalationSettings } from '../base/settings.ts'
import type { Cooldowns } from '../enforce/cooldowns.ts'
import { highestTier, isConfigured, requireChain, type TierDeps } from './tiers.ts'

export interface BriefDeps {
  agents: TierDeps['agents']
  store: Pick<Store, 'getEscalation' | 'listEscalations' | 'listChain' | 'listEvents'>
  redactor: Redactor
  cooldowns: Pick<Cooldowns, 'describeRules'>
  /** The directory with state files that agents at tiers may read. Handoffs are written there too. */
  stateDir: string
  settings: { escalation: EscalationSettings }
}

export async function readTierBrief(
  deps: BriefDeps,
  run: RunRecord,
  { decision, standing, structuredOutput }: BriefFacts,
): Promise<Brief> {
  const { parentRunId, followUpId } = run.links
  // The tier was removed from the configuration while its agent was working.
  if (!isConfigured(deps, run)) return { texts: NOTHING_ADDED }
  const { tier, chain } = requireChain(deps, run)
  const { escalation } = deps.settings
  // The prompt of a follow-up explains itself, so the reason for the escalation is not repeated.
  const takesOver = parentRunId !== null && followUpId === null
  const calledFor = takesOver ? ((await deps.store.getEscalation(parentRunId))?.message ?? null) : null
  const resumed = decision.kind === 'resume'
  const adapter = deps.agents.likelyAdapter(run.agent)
  const brief = composeBrief({
    tier,
    hasShell: tier.tools.some((tool) => adapter.describeTool(tool, {}).kind === 'shell'),
    highest: Math.min(chain.maxTier, escalation.maxTier, highestTier(deps)),
    ...withPolicy(escalation.rules, run),
    cooldowns: deps.cooldowns.describeRules(),
    dryRun: run.request.dryRun === true,
    calledFor: calledFor && deps.redactor.text(calledFor),
    resumed,
    goesOn: followUpId !== null && standing === 'known',
    bySchema: structuredOutput,
  })
  const handoff = resumed || parentRunId === null ? null : await readHandoff(deps, run, decision.reason)
  const texts = tierTexts({
    brief,
    environment: chain.environment,
    handoff: handoff && handoffText(handoff),
    takesOver,
  })
  return handoff ? { texts, beforeLaunch: () => writeHandoff(deps, handoff) } : { texts }
}

async function readHandoff(parts: BriefDeps, run: RunRecord, because: string): Promise<Handoff> {
  const { store, redactor } = parts
  const before = ancestorsOf(run, await store.listChain(run.id))
  const escalations = new Map(
    (await store.listEscalations(before.map((r) => r.id))).map((e) => [e.runId, e.recommendation]),
  )
  const tiers = await Promise.all(
    before.map(async (past) => {
      const log = new CommandLog()
      await scanEvents(store, past.id, { types: ['tool-start', 'tool-end', 'refusal'] }, ({ body }) =>
        log.note(body),
      )
      return {
        tier: past.links.tier ?? 0,
        outcome: past.state.at === 'settled' ? past.state.outcome.name : past.state.at,
        recommendation: escalations.get(past.id) ?? null,
        commands: log.commands,
      }
    }),
  )
  const fromRunId = run.links.parentRunId ?? run.id
  const handoff = composeHandoff({
    runId: run.id,
    fromRunId,
    because,
    task: run.request.chain?.task ?? run.prompt,
    tiers,
  })
  return JSON.parse(redactor.json(JSON.stringify(handoff))) as Handoff
}

/** The runs above this one in its chain, root first. */
function ancestorsOf({ links }: RunRecord, chain: readonly RunRecord[]): RunRecord[] {
  const parent = chain.find(({ id }) => id === links.parentRunId)
  return parent
    ? [
        ...ancestorsOf(
          parent,
          chain.filter(({ id }) => id !== parent.id),
        ),
        parent,
      ]
    : []
}

const fileOf = (stateDir: string, runId: RunId) => join(stateDir, 'handoffs', `${runId}.json`)

/** Writes the handoff to a file, for the agent and for people. The prompt contains the same text. */
async function writeHandoff({ stateDir }: Pick<BriefDeps, 'stateDir'>, handoff: Handoff): Promise<void> {
  const file = fileOf(stateDir, handoff.runId)
  await mkdir(join(stateDir, 'handoffs'), { recursive: true, mode: 0o700 })
  await writeFile(`${file}.new`, `${JSON.stringify(handoff, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** Removes the file, because the session contains the handoff now. */
export async function consumeHandoff({ stateDir }: Pick<BriefDeps, 'stateDir'>, runId: RunId): Promise<void> {
  await rm(fileOf(stateDir, runId), { force: true })
}
