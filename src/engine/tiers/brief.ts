/** What a run at a tier is told besides its task; and, where its session cannot be resumed, what came before. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Handoff } from '../../contract/escalation.ts'
import type { RunId } from '../../contract/ids.ts'
import { composeBrief } from '../../core/escalation/brief.ts'
import { CommandLog, composeHandoff, handoffText } from '../../core/escalation/handoff.ts'
import type { Standing, TierText } from '../../core/prompt/compose.ts'
import type { ResumeDecision } from '../../core/resume/decide.ts'
import type { RunRecord } from '../../store/base/records.ts'
import { scanEvents } from '../base/events.ts'
import type { EngineParts } from '../parts.ts'
import { highestTier } from './tier-run.ts'

export interface TierTextInput {
  decision: ResumeDecision
  standing: Standing
  /** The agent is asked for its signal by a schema. */
  bySchema: boolean
}

/** null: it works at no tier, or at one that was taken out of the configuration since. */
export async function readTierText(
  parts: EngineParts,
  run: RunRecord,
  { decision, standing, bySchema }: TierTextInput,
): Promise<{ text: TierText; handoff: Handoff | null } | null> {
  const { tier: number, parentRunId, followUpId } = run.links
  const { chain } = run.request
  const { escalation } = parts.settings
  const tier = number === null ? undefined : escalation.tiers.get(number)
  if (!tier || !chain) return null
  // What a follow-up is for, it says itself.
  const takesOver = parentRunId !== null && followUpId === null
  const calledFor = takesOver ? ((await parts.store.getEscalation(parentRunId))?.message ?? null) : null
  const resumed = decision.kind === 'resume'
  const brief = composeBrief({
    tier,
    highest: Math.min(chain.maxTier, escalation.maxTier, highestTier(parts)),
    ...escalation.rules,
    cooldowns: parts.cooldowns.describeRules(),
    dryRun: run.request.dryRun === true,
    calledFor: calledFor && parts.redactor.text(calledFor),
    resumed,
    goesOn: followUpId !== null && standing === 'known',
    bySchema,
  })
  const handoff = resumed || parentRunId === null ? null : await readHandoff(parts, run, decision.reason)
  return {
    text: {
      brief,
      environment: chain.environment,
      handoff: handoff && handoffText(handoff),
      takesOver,
    },
    handoff,
  }
}

async function readHandoff(parts: EngineParts, run: RunRecord, because: string): Promise<Handoff> {
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

/** Root first. */
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

/** For who looks from outside, and for the tier itself: the same as in its prompt. */
export async function writeHandoff({ stateDir }: EngineParts, handoff: Handoff): Promise<void> {
  const file = fileOf(stateDir, handoff.runId)
  await mkdir(join(stateDir, 'handoffs'), { recursive: true, mode: 0o700 })
  await writeFile(`${file}.new`, `${JSON.stringify(handoff, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** The session has it now: it is given to nobody else. */
export async function consumeHandoff({ stateDir }: EngineParts, runId: RunId): Promise<void> {
  await rm(fileOf(stateDir, runId), { force: true })
}
