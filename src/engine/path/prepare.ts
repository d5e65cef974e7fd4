/**
 * Steps 2 and 4 of the one path: gather the facts, decide, and plan. Reads much, and changes nothing, except that the
 * files of a session that are gone are put back from the archive. What comes out is everything an attempt needs,
 * derived from one decision.
 */
import { randomUUID } from 'node:crypto'
import type { Plan, Runtime } from '../../agents/adapter.ts'
import { type ConfiguredAgent, factsOf } from '../../agents/registry.ts'
import type { Handoff } from '../../contract/escalation.ts'
import { AttemptId, SessionId } from '../../contract/ids.ts'
import { turnsForNext } from '../../core/continue/turns.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import { remainingOf } from '../../core/job/budget.ts'
import { type ChatContext, composePrompt } from '../../core/prompt/compose.ts'
import { estimateTokens, roomForPast } from '../../core/prompt/tokens.ts'
import { decideResume, type ResumeDecision } from '../../core/resume/decide.ts'
import type { Pin } from '../../core/resume/facts.ts'
import type { Place } from '../../core/resume/place.ts'
import { findRuntimeChange } from '../../core/resume/runtime.ts'
import { decideRoom } from '../../core/room/decide.ts'
import type { AttemptRecord, NewAttempt, RunRecord, Sent, SessionRecord } from '../../store/base/records.ts'
import { readAllowance } from '../accounting/allowance.ts'
import { readWindow } from '../accounting/windows.ts'
import { canBeHeld, isGated } from '../enforce/gate.ts'
import type { EngineParts } from '../parts.ts'
import { readPin } from '../sessions/pin.ts'
import { readTierText } from '../tiers/brief.ts'
import { planOfTier } from '../tiers/tier-run.ts'
import { identifyDir, realWorkDir } from './check-request.ts'
import { currentAttempts, readContext, readWholePast, standingOf } from './context.ts'
import { type EarlierAttempts, readEarlierAttempts, toInterruption } from './history.ts'

export interface Prepared {
  agent: ConfiguredAgent
  runtime: Runtime
  place: Place
  plan: Plan
  attempt: NewAttempt
  newSession: SessionRecord | null
  /** The transcript to mend before the agent resumes it. */
  tornTranscript: string | null
  /** What the tier is given of those before it. */
  handoff: Handoff | null
  sent: Sent
  /** What others said in the session that a conversation or a fresh start does not know yet. */
  outside: { session: SessionRecord; turns: readonly OutsideTurn[] } | null
  /** Why it starts as it does, where the reason alone does not say it. */
  notes: readonly string[]
  /** Of the conversation it was prepared for. */
  revision: number | null
}

/** `busy`: another run of ours writes the session now; this one's turn comes when that has ended. */
export async function prepareAttempt(
  parts: EngineParts,
  queued: RunRecord,
  workTree: string | null,
): Promise<Prepared | 'busy'> {
  const { store, agents, clock } = parts
  const context = await readContext(store, queued)
  const { run } = context
  const agent = agents.get(run.agent)
  const runtime = await agents.runtime(run.agent)
  const workDir = await realWorkDir(run.workDir)
  const place = { workDir, workDirId: await identifyDir(workDir) }
  const { session, turns, chat } = context
  const pinned = session && (await readPin(parts, run, session, { epoch: context.sessionEpoch, place }))
  if (pinned?.pin.holder?.kind === 'lease') return 'busy'

  const earlier = await readEarlierAttempts(store, run)
  const room = decideRoom(currentAttempts(run, await store.listAttempts(run.id)).map(toPastAttempt))
  const now = clock.now()
  const decide = (pin: Pin | null) =>
    decideResume(
      {
        agent: run.agent,
        runtime: factsOf(runtime),
        ...place,
        canResume: runtime.capabilities.resume,
        // A forced fresh start is about the session the caller named, not about this run's own later attempts.
        forceFresh: run.request.forceFreshSession && run.attemptCount === run.outdatedAttempts,
        epoch: context.epoch,
        resumesUsed: run.strikes,
        pin,
        limits: {
          ...parts.settings.resume,
          maxResumes: run.request.maxResumes ?? parts.settings.resume.maxResumes,
        },
        // What the tiers before did is handed over as such, not as talk.
        past: {
          turns: turns.length > 0,
          otherAgent: context.otherAgent,
          unfinishedWork: hasWork(earlier) || run.links.parentRunId !== null,
        },
      },
      now,
    )
  const contextWindow = await readWindow(parts, run, agent.model)
  const pin = pinned && {
    ...pinned.pin,
    full: room.kind === 'full',
    contextWindow: contextWindow ?? pinned.pin.contextWindow,
  }
  let decision = decide(pin)
  // Too full, by its figures or because it overflowed, and room not made yet: that comes first, if all else allows.
  const tooFull =
    room.kind === 'overflowed' ||
    (room.kind === 'open' && decision.kind === 'fresh' && decision.reason === 'context-full')
  const emptied = tooFull ? decide(pin && { ...pin, contextTokens: null }) : null
  const kind = emptied?.kind === 'resume' ? ('compact' as const) : ('turn' as const)
  if (emptied?.kind === 'resume') decision = emptied

  const roomMade = room.kind === 'made' && decision.kind === 'resume'
  const promptRecorded = decision.kind === 'resume' && pinned !== null && pinned.promptRecorded
  const bySchema = runtime.capabilities.structuredOutput
  const standing = session ? standingOf(session, context.standingHash) : 'changed'
  const tier = await readTierText(parts, run, { decision, standing, bySchema })
  const besides = [
    run.prompt,
    chat?.instructions,
    tier?.text.brief,
    tier?.text.environment,
    tier?.text.handoff,
  ]
  const pastRoom = roomForPast({
    window: contextWindow,
    threshold: parts.settings.resume.contextThreshold,
    besides: besides.reduce((sum, part) => sum + estimateTokens(part ?? ''), 0),
    held: decision.kind === 'resume' ? (session?.contextTokens ?? 0) : 0,
  })
  const text = {
    prompt: run.prompt,
    turns,
    room: pastRoom,
    interruption: toInterruption(earlier, promptRecorded),
    standing,
    task: context.task,
    roomMade: roomMade && promptRecorded,
    chat,
    workTree,
    tier: tier?.text ?? null,
  }
  // Only what is sent need be read in full.
  const past = hasPast(decision, chat) ? await readWholePast(store, context, pastRoom) : {}
  const { texts: prompt, leftOut } =
    kind === 'compact' ? { texts: [COMPACT], leftOut: null } : composePrompt({ decision, ...text, ...past })
  const { texts: whole } = composePrompt({
    decision: { kind: 'fresh', reason: 'forced', carry: 'transcript' },
    ...text,
  })
  const newSession = decision.kind === 'resume' ? null : createSession(run, runtime, place, session, now)
  const used = newSession ?? session
  if (!used) throw new Error('a resumed attempt without a session')
  const attempt = {
    ...createAttempt(
      run,
      decision,
      used,
      promptRecorded || kind === 'compact' ? randomUUID() : run.promptId,
      now,
    ),
    kind,
    runtime: factsOf(runtime),
    epoch: context.epoch,
    told: context.standingHash,
  }
  const plan = agent.adapter.plan({
    runtime,
    decision,
    agentSessionId: used.agentSessionId,
    promptId: attempt.promptId,
    prompt,
    model: run.model ?? agent.model,
    permissions: run.request.permissions,
    gated: isGated(parts, run) && canBeHeld(runtime),
    tier: run.links.tier === null ? null : planOfTier(parts, run.links.tier),
    maxTurns: turnsForNext(run.request, await countTurnLimits(store, run)),
    maxBudgetUsd: (await readBudgetLeft(parts, run)) ?? run.request.maxBudgetUsd,
    extraArgs: agent.args,
  })
  return {
    agent,
    runtime,
    place,
    plan,
    attempt,
    newSession,
    tornTranscript: decision.kind === 'resume' ? (pinned?.tornTranscript ?? null) : null,
    revision: context.revision,
    handoff: kind === 'turn' ? (tier?.handoff ?? null) : null,
    sent: {
      promptChars: lengthOf(prompt),
      transcriptChars: Math.max(lengthOf(whole), decision.kind === 'fresh' ? lengthOf(prompt) : 0),
      leftOut,
    },
    outside: session && pinned && pinned.outside.length > 0 ? { session, turns: pinned.outside } : null,
    notes: [
      ...(pinned?.restored
        ? ['The session’s files were not here; they were restored from the archive.']
        : []),
      ...notesOn(decision, findRuntimeChange(session?.runtime ?? null, factsOf(runtime))),
    ],
  }
}

function notesOn(decision: ResumeDecision, runtimeChange: string | null): string[] {
  const isOther = decision.kind === 'fresh' && decision.reason === 'other-runtime'
  return isOther && runtimeChange !== null ? [`${runtimeChange}.`] : []
}

/** Whether something that was said before is to be sent. */
const hasPast = (decision: ResumeDecision, chat: ChatContext | null) =>
  decision.kind === 'fresh' ? decision.carry !== 'none' : (chat?.catchUp.length ?? 0) > 0

const lengthOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0)

/**
 * What is left of the job's budget, for agents that can watch it themselves. We do too, but only where a price is known;
 * a new model's is not until it has been used.
 */
async function readBudgetLeft({ store }: EngineParts, run: RunRecord): Promise<number | null> {
  const allowance = await readAllowance(store, run)
  return allowance && remainingOf(allowance.budget, allowance.before).usd
}

/** What the CLI takes for a command of its own, as a user's message. */
const COMPACT = '/compact'

const toPastAttempt = ({ kind, resumed, outcome }: AttemptRecord) => ({
  kind,
  resumed,
  outcome: outcome?.name ?? null,
})

const hasWork = (earlier: EarlierAttempts) => earlier.tools.length > 0 || earlier.saidSomething

function createSession(
  run: RunRecord,
  runtime: Runtime,
  place: Place,
  before: SessionRecord | null,
  now: Date,
): SessionRecord {
  return {
    id: SessionId.create(now),
    agent: run.agent,
    agentSessionId: randomUUID(),
    ...place,
    runtimeId: runtime.runtimeId,
    runtime: factsOf(runtime),
    epoch: before?.epoch ?? 0,
    continues: before?.id ?? null,
    poison: null,
    cacheState: null,
    told: null,
    compacted: false,
    turns: 0,
    resumes: 0,
    contextTokens: null,
    contextWindow: null,
    costUsd: 0,
    createdAt: now,
    lastUsedAt: now,
  }
}

function createAttempt(
  run: RunRecord,
  decision: ResumeDecision,
  session: SessionRecord,
  promptId: string,
  now: Date,
): NewAttempt {
  return {
    id: AttemptId.create(now),
    runId: run.id,
    sessionId: session.id,
    agentSessionId: session.agentSessionId,
    resumed: decision.kind === 'resume',
    freshReason: decision.kind === 'fresh' ? decision.reason : null,
    carry: decision.carry,
    promptId,
    startedAt: now,
  }
}

/** Attempts of the run that took all the turns they might; asked only where it matters. */
async function countTurnLimits(store: EngineParts['store'], run: RunRecord): Promise<number> {
  if (run.request.turnsInAll === undefined) return 0
  return (await store.listAttempts(run.id)).filter(({ outcome }) => outcome?.name === 'turn-limit').length
}
