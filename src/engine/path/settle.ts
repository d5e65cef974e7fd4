/**
 * Step 6 and 7 of the one path: the process is gone; say how it ended, what it used, what follows. Written in one
 * transaction. May be repeated by another daemon after a crash at any point before that, with the same result.
 */
import type { AgentAdapter, Exit, StopCause } from '../../agents/adapter.ts'
import type { EventBody, EventType } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { decideNext, strikesOf } from '../../core/continue/decide.ts'
import { acquits, poisonOf, refusesSession } from '../../core/continue/refused-resume.ts'
import { turnsLeft } from '../../core/continue/turns.ts'
import { concludes } from '../../core/escalation/signal.ts'
import { endOfTurn } from '../../core/turn.ts'
import { type AttemptDir, readStderrTail } from '../../process/attempt-dir.ts'
import { endStrays, goneWithin } from '../../process/ladder.ts'
import type { ProcessIdentity } from '../../process/proc.ts'
import {
  type AttemptRecord,
  QuestionEdited,
  type QuestionRecord,
  type RunRecord,
  type StoredEvent,
} from '../../store/base/records.ts'
import { isUnattended, wasRaised } from '../accounting/allowance.ts'
import { cacheUseOf } from '../accounting/cache-use.ts'
import { settleSpend } from '../accounting/spend.ts'
import { noteWindow } from '../accounting/windows.ts'
import { persist } from '../base/persist.ts'
import { endingOfTurn } from '../conversations/ending.ts'
import { markTaken, takenIn } from '../follow-ups/reconcile.ts'
import { goOnIfAffordable } from '../jobs/next-run.ts'
import { noticesOfEnd } from '../jobs/tell.ts'
import { readLimit } from '../obstacles/met-limit.ts'
import type { EngineParts } from '../parts.ts'
import { keepTranscript } from '../sessions/keep-transcript.ts'
import { readKnown } from '../sessions/recorded.ts'
import type { SupervisionEnd } from '../supervise/supervision.ts'
import { consumeHandoff } from '../tiers/brief.ts'
import { endingOfTier } from '../tiers/ending.ts'
import { noticesOfPause } from '../tiers/tell-paused.ts'
import { judgeResume } from './refused-resume.ts'

const RELEVANT: readonly EventType[] = [
  'session-start',
  'prompt-accept',
  'model-call',
  'turn-end',
  'rate-limit',
  'retry-wait',
  'compaction',
  'memory-clear',
  'background',
  'question-cancel',
]

/** Before any of these an agent has not begun to work on what it was given. */
const BEGINS_TURN: readonly EventType[] = ['session-start', 'prompt-accept', 'model-call']

export interface SettleInput {
  run: RunRecord
  attempt: AttemptRecord
  adapter: AgentAdapter
  dir: AttemptDir
  keeper: ProcessIdentity
  end: SupervisionEnd
  /** Of an attempt whose process was gone already when it was adopted. */
  goneSince?: Date | null
}

export async function settleAttempt(parts: EngineParts, input: SettleInput): Promise<void> {
  try {
    await settleOnce(parts, input)
  } catch (error) {
    // Its question was edited while the end was being worked out.
    if (!(error instanceof QuestionEdited)) throw error
    await settleAttempt(parts, input)
  }
}

async function settleOnce(parts: EngineParts, input: SettleInput): Promise<void> {
  const { store, settings, clock } = parts
  const { attempt, adapter, dir, end } = input
  // A keeper that has written the exit code needs a moment to be gone itself: it is no stray.
  if (end.kind === 'exited') await goneWithin([input.keeper], settings.killAfterMs)
  const { strays: late, survivors } = await endStrays(attempt.id, input.keeper, settings.killAfterMs)
  const strays = end.strays + late
  if (survivors.length > 0) parts.log.error({ attempt: attempt.id, survivors }, 'processes would not die')

  // Read anew: a cancel or a stop cause may have been stored since.
  const run = (await store.getRun(attempt.runId)) ?? input.run
  parts.handling.begin(run.id, 'settle', attempt.id)
  const attempts = await store.listAttempts(run.id)
  const current = attempts.find((a) => a.id === attempt.id) ?? attempt
  const events = await store.listEvents(run.id, { types: RELEVANT })
  const own = events.filter((event) => event.attemptId === attempt.id)

  await markTaken(parts, attempt, takenIn(own.filter(({ body }) => !isFirstPrompt(body, attempt))))
  const exitCode = end.kind === 'exited' ? end.code : null
  const classified = classify(
    adapter,
    { own, promptId: attempt.promptId },
    await store.listQuestions(attempt.id),
    {
      stopCause: current.stopCause as StopCause | null,
      exitCode,
      stderr: await readStderrTail(dir),
      starved: end.kind === 'exited' && end.starved,
    },
  )
  const resumeEnd = {
    resumed: attempt.resumed,
    outcome: classified,
    stopCause: current.stopCause,
    exitCode,
    starved: end.kind === 'exited' && end.starved,
    begun: own.some(({ body }) => BEGINS_TURN.includes(body.type)),
  }
  const judged = await judgeResume(parts, { run, attempt, end: resumeEnd })
  const acquitted = attempts.find(
    (before) => before.number === attempt.number - 1 && acquits(before, resumeEnd),
  )
  const concluded = run.links.tier === null ? judged : concludes(judged, exitCode)
  // It may repeat what the agent wrote to stderr.
  const outcome = { ...concluded, message: parts.redactor.text(concluded.message) }
  // Before the end is stored: prices that are known twice are no harm, forgotten ones would leave budgets blind.
  const { own: ownSpend, total: spend } = await settleSpend(parts, run, attempt)
  const progressed = new Set(events.filter(addsSomething).map((event) => event.attemptId))
  const unattended = isUnattended(run)
  const outdated = attempt.number <= run.outdatedAttempts
  const strikes = outdated
    ? 0
    : strikesOf(outcome, {
        unattended,
        resumed: attempt.resumed,
        progressed: progressed.has(attempt.id),
      })
  const wait = await parts.obstacles.meet({
    run,
    // As it is stored: the clock may have been set since it began.
    attempt: current,
    outcome,
    ...fruitlessOf(attempts, progressed, attempt, clock.now()),
  })
  const decided = decideNext({
    outcome,
    kind: attempt.kind,
    resumed: attempt.resumed,
    cancelRequested: run.cancelRequested,
    outdated,
    unattended,
    strikes: run.strikes + strikes,
    wait,
    overflows: [...attempts.filter((a) => a.id !== attempt.id).map((a) => a.outcome), outcome].filter(
      (o) => o?.name === 'context-overflow',
    ).length,
    turnsLeft: turnsLeft(
      run.request,
      [...attempts.filter((a) => a.id !== attempt.id).map((a) => a.outcome), outcome].filter(
        (o) => o?.name === 'turn-limit',
      ).length,
    ),
    maxResumes: run.request.maxResumes ?? settings.resume.maxResumes,
    backoffMs: settings.jobs.backoffMs,
    jitter: parts.random(),
  })
  const raised =
    outcome.name === 'budget' &&
    progressed.has(attempt.id) &&
    !run.cancelRequested &&
    (await wasRaised(store, run, spend))
  const next: typeof decided = raised ? { kind: 'retry', afterMs: 0, why: 'the budget was raised' } : decided
  const tookPrompt =
    attempt.kind === 'turn' &&
    own.some(({ body }) => body.type === 'prompt-accept' || body.type === 'model-call')
  const known = await readKnown(parts, run, attempt, {
    completed: outcome.name === 'completed',
    accepted: tookPrompt,
    modelCalled: own.some(isModelCall),
    reported: reportedSession(own, attempt),
  })
  parts.handling.end(run.id, 'settle', attempt.id)
  // Not of one that never got its prompt: it knows nothing of what others did to the files.
  const unkept = tookPrompt
    ? await parts.checkpoints.keepWork(run, attempt.id, input.goneSince ?? null)
    : null
  await keepTranscript(parts, run, attempt, reportedSession(own, attempt))
  const turn = await endingOfTurn(parts, {
    run,
    settled: next.kind === 'settle' ? next.outcome : null,
    took:
      known.question && !outdated && !refusesSession(outcome, attempt.resumed) && !acquitted ? attempt : null,
    informed: known.past,
  })
  const cache = cacheUseOf(run, attempt, await store.getSession(attempt.sessionId), {
    own,
    rates: ownSpend.rates,
  })
  const done = {
    modelCalls: new Set(events.flatMap(callOf)).size,
    toolCalls: await store.countEvents(run.id, 'tool-start'),
    refusals: await store.countEvents(run.id, 'refusal'),
  }
  const turnEnd = attempt.kind === 'turn' ? endOfTurn(own, attempt.promptId) : null
  const resultText = outdated ? null : (turnEnd?.text ?? run.resultText)
  const usual = parts.agents.find(run.agent)?.model ?? null
  await noteWindow(parts, run, usual, ownSpend.contextWindow)
  if (tookPrompt && run.links.parentRunId) await consumeHandoff(parts, run.id)
  const tier = await endingOfTier(parts, {
    run: { ...run, spend },
    settled: next.kind === 'settle' ? next.outcome : null,
    ending: { structured: turnEnd?.structured, text: turnEnd?.text ?? null, exitCode },
  })
  const notices =
    next.kind === 'settle'
      ? await noticesOfEnd(parts, { ...run, spend, done, resultText }, next.outcome)
      : next.kind === 'pause'
        ? await noticesOfPause(parts, run, next.why)
        : []
  const at = clock.now()
  await persist(parts, () =>
    store.endAttempt({
      attempt,
      outdatedAttempts: run.outdatedAttempts,
      outcome,
      exitCode,
      costUsd: ownSpend.costUsd,
      session: {
        agentSessionId: reportedSession(own, attempt),
        turns: tookPrompt ? 1 : 0,
        told: known.standing ? { told: attempt.told, compacted: own.some(isCompaction) } : null,
        poison: poisonOf(outcome, attempt.resumed),
        cacheState: cache.after,
        contextTokens: ownSpend.contextTokens,
        contextWindow: ownSpend.contextWindow,
      },
      cacheUse: cache.use,
      acquitted: acquitted?.sessionId ?? null,
      spend,
      resultText,
      done,
      strikes,
      next:
        next.kind === 'retry'
          ? { ...next, notBefore: new Date(at.getTime() + next.afterMs), heldBy: wait?.heldBy ?? null }
          : next.kind === 'pause'
            ? { ...next, heldBy: wait?.heldBy ?? null }
            : next,
      events: [
        ...[unkept, cache.note].flatMap((text) => (text === null ? [] : [{ type: 'note' as const, text }])),
        ...endEvents(attempt, outcome, exitCode, strays, next),
      ],
      turn,
      tier,
      notices,
      at,
    }),
  )
  parts.bus.publish(run.id)
  if (tier?.escalation.decision === 'ask') parts.onAsk()
  if (notices.length > 0 || tier) parts.notifications.wake()
  if (next.kind === 'settle' && next.outcome.name === 'budget' && run.links.jobId) {
    const job = await store.getJob(run.links.jobId)
    if (job) await goOnIfAffordable(parts, job)
  }
}

const isFirstPrompt = (body: EventBody, { promptId }: AttemptRecord) =>
  body.type === 'prompt-accept' && body.messageId === promptId

const addsSomething = ({ body }: StoredEvent) =>
  body.type === 'model-call' && (body.usage.outputTokens ?? 0) > 0

const isModelCall = ({ body }: StoredEvent) => body.type === 'model-call'
const isCompaction = ({ body }: StoredEvent) => body.type === 'compaction'

const callOf = ({ body }: StoredEvent) => (body.type === 'model-call' ? [body.messageId] : [])

/** How many of the newest attempts in a row added nothing, and since when. */
function fruitlessOf(
  attempts: readonly AttemptRecord[],
  progressed: ReadonlySet<string | null>,
  newest: AttemptRecord,
  now: Date,
): { fruitless: number; fruitlessSince: Date } {
  const upTo = attempts.filter((a) => a.number <= newest.number).toReversed()
  const first = upTo.findIndex((a) => progressed.has(a.id))
  const fruitless = first === -1 ? upTo.length : first
  return { fruitless, fruitlessSince: upTo[fruitless - 1]?.startedAt ?? now }
}

function endEvents(
  attempt: AttemptRecord,
  outcome: Outcome,
  exitCode: number | null,
  strays: number,
  next: ReturnType<typeof decideNext>,
): EventBody[] {
  const last: EventBody =
    next.kind === 'settle' ? { type: 'run-end', outcome: next.outcome } : { type: 'note', text: next.why }
  return [{ type: 'attempt-end', number: attempt.number, outcome, exitCode, strays }, last]
}

function classify(
  adapter: AgentAdapter,
  { own: events, promptId }: { own: readonly StoredEvent[]; promptId: string },
  questions: readonly QuestionRecord[],
  { starved, ...exit }: Pick<Exit, 'stopCause' | 'exitCode' | 'stderr'> & { starved: boolean },
): Outcome {
  const turnEnd = endOfTurn(events, promptId)
  const outcome = adapter.classify({ ...exit, turnEnd, ...readLimit(events, exit.stopCause) })
  if (outcome.name !== 'completed') return outcome
  const withdrawn = new Set(
    events.flatMap(({ body }) => (body.type === 'question-cancel' ? [body.requestId] : [])),
  )
  // Its tool ended without an answer of ours, and the agent had not withdrawn the question.
  const refusedByNobody = questions.some(
    (q) => q.answer === null && q.closedAt && !withdrawn.has(q.ask.requestId),
  )
  if (!refusedByNobody && !starved) return outcome
  // A CLI that loses its stdin takes its own question for refused, stops, and reports success.
  return {
    name: 'crashed',
    message: 'the agent lost its input; if it was refused a tool, nobody refused it',
  }
}

/**
 * The newest id the agent's own start message gave: older CLIs mint a new one at each resume. An id in an error is
 * not believed; it may be the very one that was refused.
 */
function reportedSession(events: readonly StoredEvent[], attempt: AttemptRecord): string | null {
  const id = events.flatMap(({ body }) => (body.type === 'session-start' ? [body.agentSessionId] : [])).at(-1)
  return id && id !== attempt.agentSessionId ? id : null
}
