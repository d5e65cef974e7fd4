/**
 * Steps 6 and 7 of the path, after the process has ended: determine how it ended, what it used and what follows. The
 * result is written in one transaction. If a daemon crashes before that, another one repeats this with the same result.
 */
import type { AgentAdapter } from '../../agents/adapter.ts'
import type { EventBody } from '../../contract/events.ts'
import type { Outcome, Usage } from '../../contract/outcome.ts'
import type { Clock } from '../../core/clock.ts'
import type { Next } from '../../core/continue/decide.ts'
import { poisonOf, refusesSession } from '../../core/continue/refused-resume.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import type { Handling } from '../../process/handling.ts'
import type { ProcessIdentity } from '../../process/proc.ts'
import { QuestionEdited } from '../../store/base/errors.ts'
import type { AttemptEnding, AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { Kept } from '../../store/runs/process-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { SessionEnd } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { cacheUseOf } from '../accounting/cache-use.ts'
import { type SpendDeps, settleSpend } from '../accounting/spend.ts'
import { noteWindow } from '../accounting/windows.ts'
import type { Log } from '../base/log.ts'
import type { NextPrompts } from '../base/next-prompts.ts'
import type { Notifications } from '../base/notifications.ts'
import type { Persist } from '../base/persist.ts'
import type { Processes } from '../base/processes.ts'
import type { ProgressBus } from '../base/progress.ts'
import type { RunPurpose } from '../base/purpose.ts'
import type { Purposes } from '../base/purposes.ts'
import { readTranscriptBytes } from '../kept/disturbance.ts'
import { type EndWaitingDeps, endWaiting } from '../kept/end-waiting.ts'
import type { KeptProcesses } from '../kept/kept.ts'
import type { Mirror } from '../mirror/mirror.ts'
import { findUnrecorded, type RecordedDeps, readKnown } from '../sessions/recorded.ts'
import type { SupervisionEnd } from '../supervise/supervision.ts'
import { classify, type Exit, exitOf, findCleared, resumeEndOf } from './judge.ts'
import { judgeResume } from './refused-resume.ts'
import {
  countModelCalls,
  hasForgotten,
  isModelCall,
  readTrace,
  type Trace,
  takenAfterFirst,
} from './trace.ts'
import { decideWhatFollows, type WhatFollowsDeps } from './what-follows.ts'

export type SettleDeps = RecordedDeps &
  EndWaitingDeps &
  SpendDeps &
  WhatFollowsDeps & {
    store: Pick<
      Store,
      | 'getRun'
      | 'listAttempts'
      | 'listEvents'
      | 'listQuestions'
      | 'countEvents'
      | 'endAttempt'
      | 'effects'
      | 'getFact'
      | 'putFact'
    >
    purposes: Pick<Purposes, 'of'>
    nextPrompts: Pick<NextPrompts, 'noteTaken'>
    mirrors: Pick<Mirror, 'catchUp'>
    handling: Pick<Handling, 'begin' | 'end'>
    kept: Pick<KeptProcesses, 'plan' | 'add'>
    processes: Pick<Processes, 'goneWithin' | 'endStrays' | 'readStderrTail'>
    clock: Clock
    redactor: Redactor
    log: Log
    bus: Pick<ProgressBus, 'publish'>
    notifications: Pick<Notifications, 'wake'>
    persist: Persist
    settings: { killAfterMs: number }
  }

export interface SettleInput {
  run: RunRecord
  attempt: AttemptRecord
  adapter: AgentAdapter
  dir: AttemptDir
  keeper: ProcessIdentity
  end: SupervisionEnd
  /** Set if the process had already ended when this daemon adopted the attempt. */
  goneSince?: Date | null
}

export async function settleAttempt(deps: SettleDeps, input: SettleInput): Promise<void> {
  const strays = await endProcesses(deps, input)
  for (;;) {
    try {
      return await settleOnce(deps, input, strays)
    } catch (error) {
      // The question was edited while the end was being determined, so this is repeated.
      if (!(error instanceof QuestionEdited)) throw error
    }
  }
}

/** Ends processes that the agent left behind. Returns their number. */
async function endProcesses(
  { settings, log, processes }: SettleDeps,
  { attempt, keeper, end }: SettleInput,
): Promise<number> {
  // Whether a process that waits is kept is not known yet.
  if (end.kind === 'left') return end.strays
  // A keeper that has written the exit code needs a moment to be gone itself: it is no stray.
  if (end.kind === 'exited') await processes.goneWithin([keeper], settings.killAfterMs)
  const { strays, survivors } = await processes.endStrays(attempt.spool, keeper, settings.killAfterMs)
  if (survivors.length > 0) log.error({ attempt: attempt.id, survivors }, 'processes would not die')
  return end.strays + strays
}

async function settleOnce(deps: SettleDeps, input: SettleInput, before: number): Promise<void> {
  let strays = before
  const { store, clock, handling, persist } = deps
  const { attempt } = input
  const trace = await readTrace(store, input.run, attempt)
  const { run, tookPrompt, reportedSession } = trace
  const purpose = deps.purposes.of(run)
  // Runs beside the rest, and is finished before anybody learns of the end.
  const mirrored = deps.mirrors.catchUp(
    attempt.sessionId,
    [attempt.agentSessionId, reportedSession].filter((id) => id !== null),
  )
  handling.begin(run.id, 'settle', attempt.id)
  const taken = takenAfterFirst(trace)
  await deps.nextPrompts.noteTaken(attempt, taken)
  const exit = exitOf(input.end, await deps.processes.readStderrTail(input.dir))
  const judged = await judge(deps, purpose, input, trace, exit)
  // This precedes the end: storing a price twice does no harm, but without a price a budget cannot be enforced.
  const account = await settleSpend(deps, run, attempt)
  const decided = await decideWhatFollows(deps, purpose, trace, judged.outcome, account.total)
  const completed = judged.outcome.name === 'completed'
  const known = await readKnown(deps, run, attempt, {
    completed,
    accepted: tookPrompt,
    modelCalled: trace.own.some(isModelCall),
    reported: reportedSession,
  })
  // Agents report a message as taken before they write it down.
  const lostMessages = completed ? [] : await findUnrecorded(deps, run, attempt, taken, reportedSession)
  handling.end(run.id, 'settle', attempt.id)
  const goneSince = input.goneSince ?? null
  const notes = await purpose.afterAttempt(run, { attempt, tookPrompt, goneSince, reportedSession })
  const cache = cacheUseOf(run, attempt, await store.getSession(attempt.sessionId), {
    own: trace.own,
    rates: account.own.rates,
    pricing: input.adapter.pricing,
  })
  const usual = deps.agents.find(run.agent)?.model ?? null
  await noteWindow(store, run, usual, account.own.contextWindow)
  const done = {
    modelCalls: countModelCalls(trace),
    toolCalls: await store.countEvents(run.id, 'tool-start'),
    refusals: await store.countEvents(run.id, 'refusal'),
  }
  const turnEnd = attempt.kind === 'turn' ? trace.turnEnd : null
  const resultText = trace.outdated ? null : (turnEnd?.text ?? run.resultText)
  const { next } = decided
  const settled = next.kind === 'settle' ? next.outcome : null
  const isKept = !trace.outdated && !refusesSession(judged.outcome, attempt.resumed) && !judged.cleared
  const effects = await purpose.readEnding({
    run: { ...run, spend: account.total, done, resultText },
    settled,
    attempt: {
      took: known.question && isKept ? attempt : null,
      informed: known.past,
      structured: turnEnd?.structured,
      text: turnEnd?.text ?? null,
      exitCode: exit.exitCode,
    },
  })
  const pauseNotices = next.kind === 'pause' ? await purpose.readPauseNotices(run, next.why) : []
  const isDone = settled?.name === 'completed' && trace.attempt.stopCause === null && isKept
  const keep = isDone && reportedSession === null ? await planKeeping(deps, input) : null
  if (input.end.kind === 'left' && keep === null) strays += await endLeft(deps, input)
  await mirrored
  const at = clock.now()
  const kept = await persist(() =>
    store.endAttempt({
      attempt,
      keep,
      outdatedAttempts: run.outdatedAttempts,
      outcome: judged.outcome,
      exitCode: exit.exitCode,
      costUsd: account.own.costUsd,
      session: {
        agentSessionId: reportedSession,
        turns: tookPrompt ? 1 : 0,
        told: known.standing ? { told: attempt.told, compacted: hasForgotten(trace.own, completed) } : null,
        poison: poisonOf(judged.outcome, attempt.resumed),
        cacheState: cache.after,
        contextTokens: account.own.contextTokens,
        contextWindow: account.own.contextWindow,
        end: sessionEndOf(trace, judged.outcome, account.own.usage),
      },
      cacheUse: cache.use,
      clearedSessionId: judged.cleared?.sessionId ?? null,
      spend: account.total,
      resultText,
      done,
      lostMessages,
      interruptions: decided.interruptions,
      next: toStored(next, decided.heldBy, at),
      events: [
        ...[...notes, ...(cache.note === null ? [] : [cache.note])].map((text) => ({
          type: 'note' as const,
          text,
        })),
        ...endEvents(attempt, judged.outcome, exit.exitCode, strays, next),
      ],
      effects: [...effects, store.effects.notifyOfPause(pauseNotices)],
      at,
    }),
  )
  if (kept) deps.kept.add(kept)
  deps.bus.publish(run.id)
  deps.notifications.wake()
  if (settled) await purpose.afterSettled(run, settled)
}

/** How the process is kept after its turn; null: it is not. */
async function planKeeping(
  { agents, kept }: SettleDeps,
  { run, attempt, end }: SettleInput,
): Promise<Kept | null> {
  const agent = agents.find(run.agent, run.id)
  if (end.kind !== 'left' || !agent?.adapter.waiting) return null
  const { agentSessionId } = attempt
  if (!(await agent.adapter.waiting.staysQuiet(agentSessionId, agent.env, run.workDir))) return null
  const transcriptBytes = await readTranscriptBytes(agent, agentSessionId, run.workDir)
  return kept.plan({ spoolOffset: end.offset, transcriptBytes, preStarted: false })
}

/** Ends a process that waits although it is not kept. Returns the number of processes that it left behind. */
async function endLeft(deps: SettleDeps, { attempt, keeper, adapter }: SettleInput): Promise<number> {
  const { strays } = await endWaiting(deps, { spool: attempt.spool, keeper, adapter, addressee: attempt })
  return strays
}

function sessionEndOf(trace: Trace, outcome: Outcome, usage: Usage): SessionEnd {
  // A follow-up that was given to the kept process has a turn of its own.
  const last = trace.own.findLast(({ body }) => body.type === 'turn-end')?.body
  const turnEnd = last?.type === 'turn-end' ? last : null
  const prompts = trace.own.filter(({ body }) => body.type === 'prompt-accept').length
  const answers = trace.own.filter(({ body }) => body.type === 'turn-end').length
  return {
    stopReason: (outcome.name === 'completed' ? turnEnd?.stopReason : null) ?? outcome.name,
    finished: outcome.name === 'completed' && turnEnd?.cutOff !== true,
    messages: trace.attempt.kind === 'turn' ? Math.max(prompts, trace.tookPrompt ? 1 : 0) + answers : 0,
    usage,
  }
}

interface Judged {
  outcome: Outcome
  /** The previous attempt, if this end shows that its session did not refuse to resume. */
  cleared: AttemptRecord | undefined
}

async function judge(
  deps: SettleDeps,
  purpose: RunPurpose,
  { attempt, adapter }: SettleInput,
  trace: Trace,
  exit: Exit,
): Promise<Judged> {
  const classified = classify(adapter, trace, await deps.store.listQuestions(attempt.id), exit)
  const end = resumeEndOf(trace, classified, exit)
  const judged = purpose.judge(await judgeResume(deps, { run: trace.run, attempt, end }), exit.exitCode)
  // The message may contain the agent's stderr.
  const outcome = { ...judged, message: deps.redactor.text(judged.message) }
  return { outcome, cleared: findCleared(trace, end) }
}

function toStored(next: Next, heldBy: string | null, at: Date): AttemptEnding['next'] {
  if (next.kind === 'retry') return { ...next, notBefore: new Date(at.getTime() + next.afterMs), heldBy }
  return next.kind === 'pause' ? { ...next, heldBy } : next
}

function endEvents(
  attempt: AttemptRecord,
  outcome: Outcome,
  exitCode: number | null,
  strays: number,
  next: Next,
): EventBody[] {
  const last: EventBody =
    next.kind === 'settle' ? { type: 'run-end', outcome: next.outcome } : { type: 'note', text: next.why }
  return [{ type: 'attempt-end', number: attempt.number, outcome, exitCode, strays }, last]
}
