/**
 * One run, one attempt, from queued to the attempt's end. What follows (settled, or queued again) is in the store
 * afterwards; the dispatcher finds it there.
 */
import { type ErrorCode, toRepriseError } from '../../contract/errors.ts'
import type { EventBody } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { overBudget } from '../../core/job/budget.ts'
import {
  type AttemptDir,
  attemptDir,
  lastWriteOf,
  prepare,
  readKeeperPid,
  revoke,
  sizeOf,
} from '../../process/attempt-dir.ts'
import { keepsFolder } from '../../process/keeper-folder.ts'
import { endStrays } from '../../process/ladder.ts'
import { launch } from '../../process/launch.ts'
import { hasMarker, identify, isAlive, type ProcessIdentity } from '../../process/proc.ts'
import {
  type AttemptEnding,
  type AttemptRecord,
  OwnershipLost,
  type RunRecord,
} from '../../store/base/records.ts'
import type { Pause } from '../../store/obstacles/obstacles.ts'
import { isUnattended, readAllowance } from '../accounting/allowance.ts'
import { settleSpend } from '../accounting/spend.ts'
import { Detached, persist } from '../base/persist.ts'
import { endingOfTurn } from '../conversations/ending.ts'
import { guarded, openDesk, openGate } from '../enforce/enforcement.ts'
import { noticesOfEnd } from '../jobs/tell.ts'
import type { EngineParts } from '../parts.ts'
import { mendTranscript } from '../sessions/mend.ts'
import { watchOtherWriters } from '../sessions/other-writers.ts'
import { prepareInformed } from '../sessions/take-in.ts'
import type { LiveRuns } from '../supervise/live-runs.ts'
import { Supervision, type SupervisionInput } from '../supervise/supervision.ts'
import { writeHandoff } from '../tiers/brief.ts'
import { endingOfTier } from '../tiers/ending.ts'
import { noticesOfPause } from '../tiers/tell-paused.ts'
import { settleAttempt } from './settle.ts'

/** Never rejects. */
export async function driveRun(parts: EngineParts, live: LiveRuns, queued: RunRecord): Promise<void> {
  let run = queued
  try {
    await parts.handling.enter(run.id)
    const passage = await parts.obstacles.pass(run)
    if (passage.kind === 'wait') return
    if (passage.kind === 'settle') {
      await endQueued(parts, run, passage.outcome)
      return
    }
    if (passage.kind === 'pause') return await pauseQueued(parts, run, passage)
    const over = await readOverspending(parts, run)
    if (over !== null) {
      await endQueued(parts, run, { name: 'budget', message: over })
      return
    }
    const outset = await parts.checkpoints.beforeAttempt(run)
    if (outset.kind === 'stop') {
      await endQueued(parts, run, { name: 'work-dir-changed', message: outset.why })
      return
    }
    const informed = await parts.handling.during(run.id, 'prepare', String(run.attemptCount), () =>
      prepareInformed(parts, run, outset.note),
    )
    const { prepared } = informed
    run = informed.run
    if (prepared === 'busy') return await waitForSession(parts, run)
    const { agent, runtime, plan, place, newSession } = prepared
    const attempt = await parts.store.startAttempt({
      attempt: prepared.attempt,
      newSession,
      place,
      revision: prepared.revision,
      sent: prepared.sent,
      events: (number) => [
        startEvent(number, prepared.attempt),
        ...(prepared.sent.leftOut ? [{ type: 'left-out' as const, ...prepared.sent.leftOut }] : []),
        ...[...prepared.notes, ...(outset.said === null ? [] : [outset.said])].map((text) => ({
          type: 'note' as const,
          text,
        })),
      ],
    })
    // Not now: its session is taken, or the conversation has changed meanwhile. It is prepared anew.
    if (attempt === null) return await waitForSession(parts, run)
    parts.bus.publish(run.id)
    if (prepared.tornTranscript) await mendTranscript(parts, agent, attempt, prepared.tornTranscript)
    if (prepared.handoff) await writeHandoff(parts, prepared.handoff)
    const dir = attemptDir(parts.spool, attempt.id)
    prepare(dir, plan.input)
    const gate = openGate(parts, run, attempt, agent)
    const keeper = await launch({
      attemptId: attempt.id,
      dir,
      program: runtime.path,
      args: plan.args,
      env: gate ? guarded(parts, run, dir, gate, agent.env) : agent.env,
      workDir: place.workDir,
    })
    await persist(parts, () => parts.store.markLaunched(attempt, keeper))
    await supervise(parts, live, { run, attempt, adapter: agent.adapter, dir, keeper, gate })
  } catch (error) {
    await giveUp(parts, run, error)
  } finally {
    parts.handling.leave(run.id)
  }
}

async function readOverspending({ store }: EngineParts, run: RunRecord): Promise<string | null> {
  const allowance = await readAllowance(store, run)
  return allowance && overBudget(allowance.budget, allowance.before)
}

async function pauseQueued(
  parts: EngineParts,
  run: RunRecord,
  { behind, why }: Pick<Pause, 'behind' | 'why'>,
): Promise<void> {
  const notices = await noticesOfPause(parts, run, why)
  await persist(parts, () => parts.store.pauseRun(run.id, { behind, why, notices }, parts.clock.now()))
  parts.bus.publish(run.id)
  parts.notifications.wake()
}

/** Settles a run that has no attempt under way. False if it has one. */
async function endQueued(parts: EngineParts, run: RunRecord, outcome: Outcome): Promise<boolean> {
  const turn = await endingOfTurn(parts, { run, settled: outcome, took: null })
  const notices = await noticesOfEnd(parts, run, outcome)
  const tier = await endingOfTier(parts, { run, settled: outcome, ending: null })
  const done = await persist(parts, () =>
    parts.store.settleQueued(run.id, outcome, parts.clock.now(), { turn, tier, notices }),
  )
  parts.bus.publish(run.id)
  parts.notifications.wake()
  return done
}

function startEvent(
  number: number,
  attempt: Parameters<EngineParts['store']['startAttempt']>[0]['attempt'],
): EventBody {
  const { agentSessionId, resumed, freshReason, carry, kind, runtime } = attempt
  return {
    type: 'attempt-start',
    number,
    agentSessionId,
    resumed,
    carry,
    ...(freshReason ? { freshReason } : {}),
    ...(runtime?.version ? { agentVersion: runtime.version } : {}),
    ...(kind === 'compact' ? { makesRoom: true } : {}),
  }
}

async function supervise(
  parts: EngineParts,
  live: LiveRuns,
  input: Omit<SupervisionInput, 'onWaiting'>,
  goneSince: Date | null = null,
): Promise<void> {
  const onWaiting = (waiting: boolean) => live.noteWaiting(input.run.id, waiting)
  const supervision = new Supervision(parts, { ...input, onWaiting })
  live.add(input.run.id, supervision)
  try {
    // A cancel may have come before there was anything to stop.
    const now = await parts.store.getRun(input.run.id)
    if (now?.cancelRequested) await supervision.stop('cancelled', 'cancelled')
    // So may an edit of its question.
    if (now && input.attempt.number <= now.outdatedAttempts)
      await supervision.stop('question-edited', 'its question was edited')
    // It was started without being asked about each call.
    const free = input.run.links.tier === null && input.run.request.dryRun !== true
    if (parts.settings.dryRun && free && input.attempt.process !== null)
      await supervision.stop('cancelled', 'Reprise was started as a dry run')
    const stopKeeping = await parts.checkpoints.every(input.run, input.attempt.id)
    const desk = input.gate && openDesk(parts, input, input.gate)
    const stopWatching = watchOtherWriters(parts, input, (message) =>
      supervision.stop('session-conflict', message),
    )
    const end = await supervision.run().finally(() => {
      stopWatching()
      desk?.close()
      stopKeeping()
    })
    if (end) await settleAttempt(parts, { ...input, end, goneSince })
  } finally {
    live.remove(input.run.id)
  }
}

/** Takes over an attempt that another daemon left open. Never rejects. */
export async function adoptAttempt(
  parts: EngineParts,
  live: LiveRuns,
  run: RunRecord,
  left: AttemptRecord,
): Promise<void> {
  try {
    await parts.handling.enter(run.id)
    const attempt = await persist(parts, () => parts.store.takeOver(left, parts.clock.now()))
    const dir = attemptDir(parts.spool, attempt.id)
    if (await revoke(dir)) return await withdraw(parts, run, attempt)
    const session = await parts.store.getSession(attempt.sessionId)
    const adapter = await parts.agents.adapterOf(run.agent, session?.runtimeId ?? '')
    const keeper = attempt.process ?? (await findKeeper(dir, attempt.id)) ?? GONE
    if (isOfOther(keeper, dir)) return await leaveToOther(parts, run, attempt)
    if (attempt.process === null) await persist(parts, () => parts.store.markLaunched(attempt, keeper))
    parts.log.info({ run: run.id, attempt: attempt.id, pid: keeper.pid }, 'adopted an attempt')
    const goneSince = isAlive(keeper) ? null : await lastWriteOf(dir)
    const gate = openGate(parts, run, attempt, { adapter, env: parts.agents.find(run.agent)?.env ?? {} })
    await supervise(parts, live, { run, attempt, adapter, dir, keeper, gate }, goneSince)
  } catch (error) {
    await giveUp(parts, run, error)
  } finally {
    parts.handling.leave(run.id)
  }
}

const GONE: ProcessIdentity = { pid: 0, startTicks: '', bootId: '' }
const KEEPER_WAIT_MS = 2000

/** The keeper claims its folder before it writes its pid: between the two it may have to be waited for. */
async function findKeeper(
  dir: ReturnType<typeof attemptDir>,
  attemptId: string,
): Promise<ProcessIdentity | null> {
  for (let waited = 0; waited < KEEPER_WAIT_MS; waited += 20) {
    const pid = await readKeeperPid(dir)
    if (pid !== null) return identifyKeeper(pid, attemptId)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return null
}

const identifyKeeper = (pid: number, attemptId: string) => (hasMarker(pid, attemptId) ? identify(pid) : null)

/** The keeper works for the home of which this one is a copy. */
const isOfOther = (keeper: ProcessIdentity, dir: AttemptDir) => isAlive(keeper) && !keepsFolder(keeper, dir)

const BUSY_WAIT_MS = 250

async function waitForSession({ store, clock }: EngineParts, run: RunRecord): Promise<void> {
  const until = new Date(clock.now().getTime() + BUSY_WAIT_MS)
  await store.postponeRun(run.id, until, 'another run is using the session')
}

/** This home is a copy. What was under way when it was copied is the business of the daemon of the original. */
async function leaveToOther(parts: EngineParts, run: RunRecord, attempt: AttemptRecord): Promise<void> {
  const message =
    'this is a copy of a Reprise home: the agent was started from the original, which goes on with it'
  parts.log.warn({ run: run.id, attempt: attempt.id, pid: attempt.process?.pid }, message)
  const outcome = { name: 'cancelled', message } as const
  await endUnseen(parts, run, attempt, { outcome, strays: 0, strikes: 0, next: { kind: 'settle', outcome } })
}

/** The daemon died before the agent was started: nothing happened, so nothing counts. */
async function withdraw(parts: EngineParts, run: RunRecord, attempt: AttemptRecord): Promise<void> {
  const why = 'Reprise was stopped before the agent was started'
  await endUnseen(parts, run, attempt, {
    outcome: { name: 'crashed', message: why },
    strays: 0,
    strikes: 0,
    next: run.cancelRequested
      ? { kind: 'settle', outcome: { name: 'cancelled', message: 'cancelled' } }
      : { kind: 'retry', notBefore: parts.clock.now(), why },
  })
}

/**
 * Something of ours failed: the run must still settle, and nothing of it may go on running. A lost owner is no
 * failure: whoever has the attempt now sees to it.
 */
async function giveUp(parts: EngineParts, run: RunRecord, error: unknown): Promise<void> {
  if (error instanceof OwnershipLost || error instanceof Detached) {
    parts.log.warn({ run: run.id }, error.message)
    return
  }
  const { code, message: what, hint } = toRepriseError(error)
  const why = parts.redactor.text(hint ? `${what}. ${hint}` : what)
  parts.log.error({ run: run.id, error: code === 'internal' ? String((error as Error)?.stack) : code }, why)
  const outcome = wasNeverStarted(run, code)
    ? ({ name: 'cancelled', message: `not started: ${why}` } as const)
    : ({ name: 'crashed', message: why } as const)
  await endNow(parts, run, outcome)
}

/** Ends a run that daemons before this one left, without reading anything of it. */
export async function holdRun(parts: EngineParts, run: RunRecord, outcome: Outcome): Promise<void> {
  for (const attempt of await parts.store.listAttempts(run.id)) {
    if (attempt.state === 'ended') continue
    await persist(parts, () => parts.store.takeOver(attempt, parts.clock.now()))
    await revoke(attemptDir(parts.spool, attempt.id))
  }
  await endNow(parts, run, outcome)
}

async function endNow(parts: EngineParts, run: RunRecord, outcome: Outcome): Promise<void> {
  try {
    if (await endQueued(parts, run, outcome)) return
    for (const attempt of await parts.store.listAttempts(run.id)) {
      if (attempt.state === 'ended') continue
      const dir = attemptDir(parts.spool, attempt.id)
      const pid = attempt.process ? null : await readKeeperPid(dir)
      const keeper = attempt.process ?? (pid === null ? null : identifyKeeper(pid, attempt.id))
      if (keeper && isOfOther(keeper, dir)) {
        await leaveToOther(parts, run, attempt)
        continue
      }
      const { strays } = await endStrays(attempt.id, keeper, parts.settings.killAfterMs)
      await endUnseen(parts, run, attempt, {
        unread: await sizeOf(dir),
        outcome,
        strays,
        strikes: 1,
        next: { kind: 'settle', outcome },
      })
    }
  } catch (failure) {
    parts.log.error({ run: run.id, error: String(failure) }, 'could not settle the run')
  } finally {
    parts.bus.publish(run.id)
  }
}

/**
 * Its agent or its directory is gone while it waited: nothing has crashed. Of what nobody watches it is still a failure,
 * because people are told of failures only.
 */
const wasNeverStarted = (run: RunRecord, code: ErrorCode) =>
  run.attemptCount === 0 && code !== 'internal' && !isUnattended(run)

interface UnseenEnding extends Pick<AttemptEnding, 'outcome' | 'strikes' | 'next'> {
  strays: number
  /** How much it printed, where it may not all have been read. */
  unread?: number
}

/** Ends an attempt about whose process nothing is known beyond that it is gone. */
async function endUnseen(
  parts: EngineParts,
  run: RunRecord,
  attempt: AttemptRecord,
  { strays, unread = 0, ...ending }: UnseenEnding,
): Promise<void> {
  const { outcome, next } = ending
  // What it did is lost, what it cost is not.
  const { own, total: spend } = await settleSpend(parts, run, attempt)
  const turn =
    next.kind === 'settle' ? await endingOfTurn(parts, { run, settled: next.outcome, took: null }) : null
  const notices = next.kind === 'settle' ? await noticesOfEnd(parts, { ...run, spend }, next.outcome) : []
  const tier =
    next.kind === 'settle'
      ? await endingOfTier(parts, { run: { ...run, spend }, settled: next.outcome, ending: null })
      : null
  const from = Math.min(attempt.heldFrom ?? attempt.spoolOffset, attempt.spoolOffset)
  const missing: EventBody[] = unread > from ? [{ type: 'gap', from, to: unread, reason: 'not-read' }] : []
  const at = parts.clock.now()
  await persist(parts, () =>
    parts.store.endAttempt({
      ...ending,
      attempt,
      exitCode: null,
      costUsd: own.costUsd,
      session: {
        agentSessionId: null,
        turns: 0,
        told: null,
        poison: null,
        contextTokens: null,
        contextWindow: null,
      },
      spend,
      done: run.done,
      resultText: run.resultText,
      turn,
      tier,
      notices,
      events: [
        ...missing,
        { type: 'attempt-end', number: attempt.number, outcome, exitCode: null, strays },
        next.kind === 'settle'
          ? { type: 'run-end', outcome: next.outcome }
          : { type: 'note', text: next.why },
      ],
      at,
    }),
  )
  parts.bus.publish(run.id)
  if (notices.length > 0 || tier) parts.notifications.wake()
}
