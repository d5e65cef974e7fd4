/**
 * Drives one attempt of a queued run to its end. Afterwards the store says whether the run is settled or queued again,
 * and the dispatcher reads it there.
 */
import type { EventBody } from '../../contract/events.ts'
import type { SandboxName } from '../../contract/sandbox.ts'
import { overBudget } from '../../core/job/budget.ts'
import type { Binding } from '../../core/kept/binding.ts'
import type { KeptLimits } from '../../core/kept/who-goes.ts'
import { clip } from '../../core/prompt/parts.ts'
import type { Handling } from '../../process/handling.ts'
import type { Pause } from '../../store/obstacles/paused-runs.ts'
import type { NewAttempt } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { DiskSpace } from '../base/disk-space.ts'
import type { Processes } from '../base/processes.ts'
import type { Enforcement } from '../enforce/enforcement.ts'
import { readBinding } from '../kept/binding.ts'
import { readTranscriptBytes } from '../kept/disturbance.ts'
import type { KeptProcesses } from '../kept/kept.ts'
import type { Obstacles } from '../obstacles/obstacles.ts'
import { type MendDeps, mendTranscript } from '../sessions/mend.ts'
import { type LimitDeps, limitRun } from '../trust/limit-run.ts'
import { type AdoptDeps, recover } from './adopt.ts'
import { attend } from './attend.ts'
import { endQueued } from './end-run.ts'
import type { Prepared } from './prepare.ts'
import { prepareInformed, type TakeInDeps } from './take-in.ts'

export type DriveDeps = TakeInDeps &
  LimitDeps &
  AdoptDeps &
  MendDeps & {
    store: Pick<Store, 'startAttempt' | 'postponeRun' | 'pauseRun' | 'addEvents'>
    enforcement: Pick<Enforcement, 'chooseSandbox' | 'arrange'>
    handling: Pick<Handling, 'during'>
    obstacles: Pick<Obstacles, 'pass'>
    disk: Pick<DiskSpace, 'findShortage'>
    kept: Pick<KeptProcesses, 'take'>
    processes: Pick<Processes, 'prepare' | 'launch' | 'deliver'>
    settings: { kept: Pick<KeptLimits, 'keepMs'> }
  }

/** Never rejects. */
export async function driveRun(deps: DriveDeps, queued: RunRecord): Promise<void> {
  let run = queued
  try {
    await deps.handling.enter(run.id)
    const outset = await clearTheWay(deps, run)
    if (outset === null) return
    const limited = await limitRun(deps, run)
    run = limited.run
    const informed = await deps.handling.during(run.id, 'prepare', String(run.attemptCount), () =>
      prepareInformed(deps, run, outset.note),
    )
    const { prepared } = informed
    run = informed.run
    if (prepared === 'busy') return await waitForSession(deps, run)
    await start(deps, run, prepared, [prepared.isNews ? limited.note : null, outset.said])
  } catch (error) {
    await recover(deps, run, error)
  } finally {
    deps.handling.leave(run.id)
  }
}

/** Returns null if the run does not start now, because it waits, is paused, or was settled. */
async function clearTheWay(
  deps: DriveDeps,
  run: RunRecord,
): Promise<{ note: string | null; said: string | null } | null> {
  const purpose = deps.purposes.of(run)
  const passage = await deps.obstacles.pass(run, purpose.afterLongWait)
  if (passage.kind === 'wait') return null
  if (passage.kind === 'pause') return pauseQueued(deps, run, passage)
  const ended = async (outcome: Parameters<typeof endQueued>[2]) => {
    await endQueued(deps, run, outcome)
    return null
  }
  if (passage.kind === 'settle') return ended(passage.outcome)
  const shortage = await deps.disk.findShortage(run.workDir)
  if (shortage !== null) return waitForSpace(deps, run, shortage)
  const allowance = await purpose.readAllowance(run)
  const over = allowance && overBudget(allowance.budget, allowance.before)
  if (over !== null) return ended({ name: 'budget', message: over })
  const outset = await purpose.beforeAttempt(run)
  return outset.kind === 'stop' ? ended(outset.outcome) : outset
}

/** Steps 3 to 5: lease the session, start the agent, and supervise it. `said`: notes for the run's events. */
async function start(
  deps: DriveDeps,
  run: RunRecord,
  prepared: Prepared,
  said: readonly (string | null)[],
): Promise<void> {
  const { store, persist, enforcement, processes } = deps
  const { agent, runtime, plan, place, newSession, startEffects, sent } = prepared
  const { sandbox, note } = await enforcement.chooseSandbox(run, agent)
  const binding = await findBinding(deps, run, prepared, sandbox)
  const waiting = prepared.kept && (await takeWaiting(deps, prepared, binding))
  const starting = store.startAttempt({
    attempt: { ...prepared.attempt, sandbox, binding },
    reuse: waiting?.process ?? null,
    newSession,
    place,
    effects: startEffects,
    sent,
    events: (number) => [
      startEvent(number, { ...prepared.attempt, sandbox }, waiting !== null),
      ...contextEvents(prepared.added),
      ...(sent.leftOut ? [{ type: 'left-out' as const, ...sent.leftOut }] : []),
      ...[...prepared.notes, ...said, note].flatMap((text) => (text === null ? [] : [noteOf(text)])),
    ],
  })
  const attempt = await starting.catch((error: unknown) => {
    waiting?.done(false)
    throw error
  })
  waiting?.done(attempt !== null)
  // The session is in use, or the history has changed meanwhile, so the attempt is prepared again later.
  if (attempt === null) return await waitForSession(deps, run)
  deps.bus.publish(run.id)
  if (prepared.tornTranscript) await mendTranscript(deps, agent, attempt, prepared.tornTranscript)
  await prepared.beforeLaunch?.()
  const dir = processes.folderOf(attempt.spool)
  if (waiting && attempt.process) {
    const message = agent.adapter.prompt(attempt.promptId, prepared.planInput.prompt ?? [], attempt)
    await persist(() => processes.deliver(dir, message))
    deps.temporaryErrors.delete(run.id)
    const { process: keeper } = attempt
    return await attend(deps, { run, attempt, adapter: agent.adapter, dir, keeper, gate: null })
  }
  processes.prepare(dir, plan.input, plan.seed)
  const { workDir } = place
  const arranged = await enforcement.arrange({ run, attempt, dir, agent, runtime, plan, workDir, sandbox })
  const { gate, command, env, warnings } = arranged
  if (warnings.length > 0)
    await persist(() => store.addEvents(attempt, warnings.map(noteOf), deps.clock.now()))
  const keeper = await processes.launch({ attemptId: attempt.spool, dir, ...command, env, workDir })
  await persist(() => store.markLaunched(attempt, keeper))
  deps.temporaryErrors.delete(run.id)
  await attend(deps, { run, attempt, adapter: agent.adapter, dir, keeper, gate })
}

/** Returns the start properties of the run's process, if the process may wait for another run afterwards, or is one that waits. */
async function findBinding(
  { purposes, clock, settings }: DriveDeps,
  run: RunRecord,
  prepared: Prepared,
  sandbox: SandboxName,
): Promise<Binding | null> {
  const isKept = settings.kept.keepMs > 0 && purposes.of(run).keepsWarm
  return isKept || prepared.kept ? readBinding({ ...prepared, sandbox, now: clock.now() }) : null
}

/** Takes the process that waits in the session. null: it cannot have this turn, and has been ended. */
async function takeWaiting(
  { kept }: DriveDeps,
  { agent, attempt, planInput, place, kept: found, outsideTurns }: Prepared,
  binding: Binding | null,
) {
  if (!found) return null
  const { decision, agentSessionId } = planInput
  return kept.take(found.sessionId, {
    decision,
    kind: attempt.kind ?? 'turn',
    binding,
    transcriptBytes: await readTranscriptBytes(agent, agentSessionId, place.workDir),
    outsideTurns,
  })
}

async function pauseQueued(
  deps: DriveDeps,
  run: RunRecord,
  { behind, why }: Pick<Pause, 'behind' | 'why'>,
): Promise<null> {
  const notices = await deps.purposes.of(run).readPauseNotices(run, why)
  await deps.persist(() => deps.store.pauseRun(run.id, { behind, why, notices }, deps.clock.now()))
  deps.bus.publish(run.id)
  deps.notifications.wake()
  return null
}

const noteOf = (text: string) => ({ type: 'note' as const, text })

function startEvent(number: number, attempt: NewAttempt, isKept: boolean): EventBody {
  const { agentSessionId, resumed, freshReason, carry, kind, runtime, sandbox } = attempt
  return {
    type: 'attempt-start',
    number,
    agentSessionId,
    resumed,
    carry,
    ...(freshReason ? { freshReason } : {}),
    ...(runtime?.version ? { agentVersion: runtime.version } : {}),
    ...(isKept ? { kept: true } : {}),
    ...(kind === 'compact' ? { makesRoom: true } : {}),
    ...(sandbox === undefined || sandbox === 'none' ? {} : { sandbox }),
  }
}

/** A whole history may be as long as a context window; its beginning is enough to read what kind of text it is. */
const MAX_CONTEXT_CHARS = 40_000

function contextEvents(added: readonly string[]): EventBody[] {
  if (added.length === 0) return []
  return [{ type: 'context-add', texts: added.map((text) => clip(text, MAX_CONTEXT_CHARS)) }]
}

const SPACE_WAIT_MS = 2000

async function waitForSpace(deps: DriveDeps, run: RunRecord, shortage: string): Promise<null> {
  const until = new Date(deps.clock.now().getTime() + SPACE_WAIT_MS)
  await deps.persist(() => deps.store.postponeRun(run.id, until, `${shortage}; continues automatically`))
  deps.bus.publish(run.id)
  return null
}

const BUSY_WAIT_MS = 250

async function waitForSession({ store, clock }: DriveDeps, run: RunRecord): Promise<void> {
  const until = new Date(clock.now().getTime() + BUSY_WAIT_MS)
  await store.postponeRun(run.id, until, 'another run is using the session')
}
