/**
 * Steps 2 and 4 of the path: gather the facts, decide, and plan. This changes nothing, except that missing session
 * files are restored from their mirror. The result is everything that an attempt needs, derived from one decision.
 */
import { randomUUID } from 'node:crypto'
import type { Plan, PlanInput, Runtime } from '../../agents/adapter.ts'
import { type AgentRegistry, type ConfiguredAgent, factsOf } from '../../agents/registry.ts'
import { AttemptId, type SessionId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import { turnsForNext } from '../../core/continue/turns.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import { remainingOf } from '../../core/job/budget.ts'
import type { ResumeDecision } from '../../core/resume/decide.ts'
import type { ResumeLimits } from '../../core/resume/facts.ts'
import type { Place } from '../../core/resume/place.ts'
import { findRuntimeChange } from '../../core/resume/runtime.ts'
import type { RunEffect } from '../../store/base/transaction.ts'
import type { AttemptRecord, NewAttempt } from '../../store/runs/attempt-records.ts'
import { recordSession } from '../../store/runs/new-session.ts'
import type { KeptProcess } from '../../store/runs/process-records.ts'
import type { RunRecord, Sent } from '../../store/runs/records.ts'
import type { NewSession, SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { readWindow } from '../accounting/windows.ts'
import type { RunContext, RunPurpose } from '../base/purpose.ts'
import type { Purposes } from '../base/purposes.ts'
import { readSaid } from '../base/reminder.ts'
import { identifyDir, realWorkDir } from '../base/work-dir.ts'
import { canBeHeld, canExclude, type GateRules, isGated } from '../enforce/gated.ts'
import { type PinDeps, type PinFacts, readPin } from '../sessions/pin.ts'
import type { AttemptTrust, Trust } from '../trust/trust.ts'
import { type AttemptTexts, composeTexts } from './compose-texts.ts'
import { type AttemptDecision, decideAttempt } from './decide.ts'
import { readEarlierAttempts } from './history.ts'

export type PrepareDeps = PinDeps & {
  store: Pick<
    Store,
    'listAttempts' | 'listEvents' | 'listQuestions' | 'listRunMessages' | 'getFact' | 'findDirectorySettings'
  >
  trust: Pick<Trust, 'forAttempt'>
  agents: Pick<AgentRegistry, 'runtime'>
  purposes: Pick<Purposes, 'of'>
  clock: Clock
  settings: GateRules & { resume: ResumeLimits }
}

export interface Prepared {
  agent: ConfiguredAgent
  runtime: Runtime
  place: Place
  planInput: PlanInput
  plan: Plan
  /** The process that waits in the session that would be resumed, whether or not it is. */
  kept: KeptProcess | null
  attempt: NewAttempt
  newSession: NewSession | null
  /** The transcript to repair before the agent resumes it. */
  tornTranscript: string | null
  /** Called right before the agent is started. */
  beforeLaunch: AttemptTexts['beforeLaunch']
  sent: Sent
  /** The texts that Reprise added to the prompt. */
  added: readonly string[]
  /** Turns that were made in the session outside Reprise and are not imported yet. */
  outside: { session: SessionRecord; turns: readonly OutsideTurn[] } | null
  /** How many of them there were before they were imported. */
  outsideTurns: number
  /** Explanations of the start that the reason code does not contain. */
  notes: readonly string[]
  /** The session is new, or the settings of its directory are treated differently than in its last run. */
  isNews: boolean
  /** Stored in the transaction that starts the attempt; they may refuse the start. */
  startEffects: readonly RunEffect[]
}

/** Returns `busy` if another run is using the session; this run starts when that one has ended. */
export async function prepareAttempt(
  deps: PrepareDeps,
  queued: RunRecord,
  workTree: string | null,
): Promise<Prepared | 'busy'> {
  const { store, agents, clock, settings } = deps
  const purpose = deps.purposes.of(queued)
  const context = await purpose.readContext(queued)
  const { run, session } = context
  const agent = agents.get(run.agent, run.id)
  const runtime = await agents.runtime(run.agent)
  const workDir = await realWorkDir(run.workDir)
  const place = { workDir, workDirId: await identifyDir(workDir) }
  const pinned = session && (await readPin(deps, run, session, { epoch: context.sessionEpoch, place }))
  if (pinned?.pin.holder?.kind === 'lease' || pinned?.kept?.state === 'starting') return 'busy'

  const earlier = await readEarlierAttempts(store, run, context.sameTask)
  const attempts = await store.listAttempts(run.id)
  const contextWindow = purpose.contextWindowOf(run) ?? (await readWindow(store, run, agent.model))
  const limits = settings.resume
  const now = clock.now()
  const { compactPrompt } = agent.adapter
  const canCompact = compactPrompt !== null
  const decided = decideAttempt(
    { context, runtime, place, pinned, earlier, attempts, contextWindow, canCompact, limits },
    now,
  )
  const { decision } = decided
  const promptRecorded = decision.kind === 'resume' && pinned !== null && pinned.promptRecorded
  const texts = await composeTexts({
    context,
    decided,
    earlier,
    promptRecorded,
    said: await readSaid(store, runsToRecall(context, decision)),
    workTree,
    contextWindow,
    contextThreshold: limits.contextThreshold,
    structuredOutput: runtime.capabilities.structuredOutput,
    compactPrompt,
  })
  const newSession = decision.kind === 'resume' ? null : createSession(run, runtime, place, session, now)
  const used = newSession ?? session
  if (!used) throw new Error('a resumed attempt without a session')
  const gated = isGated(settings, purpose.rulesOf(run), run) && canBeHeld(runtime)
  const tier = purpose.planAgent(run)
  const directory = await deps.trust.forAttempt(agent, workDir, { never: gated })
  if (directory.settings === 'ignored') canExclude(runtime, workDir)
  const attempt = {
    ...createAttempt(context, decided, { session: used, runtime, promptRecorded, now }),
    directorySettings: directory.settings,
  }
  const isNews = newSession !== null || (await isChanged(deps, used.id, directory))
  const planInput: PlanInput = {
    runtime,
    decision,
    agentSessionId: used.agentSessionId,
    promptId: attempt.promptId,
    prompt: texts.prompt,
    model: run.model ?? agent.model,
    permissions: run.request.permissions,
    gated,
    directory: directory.plan,
    tier,
    maxTurns: turnsForNext(run.request, countTurnLimits(run, attempts)),
    maxBudgetUsd: (await readBudgetLeft(purpose, run)) ?? run.request.maxBudgetUsd,
    extraArgs: agent.args,
    options: purpose.agentOptions(run),
  }
  return {
    agent,
    runtime,
    place,
    planInput,
    plan: agent.adapter.plan(planInput),
    kept: pinned?.kept ?? null,
    attempt,
    newSession,
    tornTranscript: decision.kind === 'resume' ? (pinned?.tornTranscript ?? null) : null,
    startEffects: context.startEffects,
    beforeLaunch: texts.beforeLaunch,
    sent: texts.sent,
    added: texts.added,
    outside: session && pinned && pinned.outside.length > 0 ? { session, turns: pinned.outside } : null,
    outsideTurns: pinned?.outside.length ?? 0,
    notes: [
      ...notesOn(decision, pinned, findRuntimeChange(session?.runtime ?? null, factsOf(runtime))),
      ...(isNews && directory.note !== null ? [directory.note] : []),
    ],
    isNews,
  }
}

/**
 * The runs whose messages the session may lack. A session that was compacted may lack all of them. A new session is given
 * those of its own run again by supervision.
 */
function runsToRecall(
  { run, session, sameTask }: RunContext,
  decision: ResumeDecision,
): readonly RunRecord[] {
  if (decision.kind === 'fresh') return sameTask.filter(({ id }) => id !== run.id)
  return session?.compacted ? sameTask : []
}

const isChanged = async ({ store }: PrepareDeps, session: SessionId, { settings }: AttemptTrust) =>
  (await store.findDirectorySettings(session)) !== settings

function notesOn(decision: ResumeDecision, pinned: PinFacts | null, runtimeChange: string | null): string[] {
  const isOther = decision.kind === 'fresh' && decision.reason === 'other-runtime'
  return [
    ...(pinned?.restored
      ? ['The session’s files were missing; they were restored from Reprise’s copy.']
      : []),
    ...(isOther && runtimeChange !== null ? [`${runtimeChange}.`] : []),
  ]
}

/**
 * What is left of the budget, for agents that can enforce it themselves. Reprise enforces it too, but only if the price
 * is known, and the price of a new model is unknown until it was used.
 */
async function readBudgetLeft(purpose: RunPurpose, run: RunRecord): Promise<number | null> {
  const allowance = await purpose.readAllowance(run)
  return allowance && remainingOf(allowance.budget, allowance.before).usd
}

function createSession(
  run: RunRecord,
  runtime: Runtime,
  place: Place,
  before: SessionRecord | null,
  now: Date,
): NewSession {
  const known = {
    agent: run.agent,
    agentSessionId: randomUUID(),
    ...place,
    runtimeId: runtime.runtimeId,
    runtime: factsOf(runtime),
    epoch: before?.epoch ?? 0,
    continues: before?.id ?? null,
  }
  return recordSession(known, now)
}

interface AttemptFacts {
  session: NewSession
  runtime: Runtime
  promptRecorded: boolean
  now: Date
}

function createAttempt(
  { run, epoch, standingHash }: RunContext,
  { decision, kind }: AttemptDecision,
  { session, runtime, promptRecorded, now }: AttemptFacts,
): NewAttempt {
  return {
    id: AttemptId.create(now),
    runId: run.id,
    sessionId: session.id,
    agentSessionId: session.agentSessionId,
    resumed: decision.kind === 'resume',
    freshReason: decision.kind === 'fresh' ? decision.reason : null,
    carry: decision.carry,
    promptId: promptRecorded || kind === 'compact' ? randomUUID() : run.promptId,
    startedAt: now,
    kind,
    runtime: factsOf(runtime),
    epoch,
    told: standingHash,
  }
}

/** The number of attempts that reached the turn limit. It matters only if the run continues after the limit. */
const countTurnLimits = ({ request }: RunRecord, attempts: readonly AttemptRecord[]) =>
  request.turnsInAll === undefined
    ? 0
    : attempts.filter(({ outcome }) => outcome?.name === 'turn-limit').length
