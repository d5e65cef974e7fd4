/**
 * Recovery: adopts an attempt that another daemon left open. A new fence shuts that daemon out; then the path continues
 * from the stored state. If the agent was never started, its keeper is prevented from starting it and the run is queued
 * again. So it is if the turn was to be given to a kept process and never was; that process is ended.
 *
 * The same is done after a temporary error of the machine (core/system-error.ts), by the daemon that met it: it pauses,
 * then adopts the attempt from itself, or leaves the run queued if it has no open attempt. The pauses grow, nothing is
 * counted against the run, and an agent that is at work continues meanwhile. Other errors settle the run.
 */
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { AgentRegistry } from '../../agents/registry.ts'
import { findTemporary, pauseAfterTemporaryMs } from '../../core/system-error.ts'
import type { Handling } from '../../process/handling.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { GONE, type Processes } from '../base/processes.ts'
import type { Enforcement } from '../enforce/enforcement.ts'
import { type AttendDeps, attend } from './attend.ts'
import { type EndRunDeps, giveUp, leaveToOther, withdraw } from './end-run.ts'
import { joinedProcess } from './trace.ts'

export type AdoptDeps = AttendDeps &
  EndRunDeps & {
    store: Pick<Store, 'getRun' | 'getSession' | 'takeOver' | 'markLaunched' | 'postponeRun' | 'addEvents'>
    agents: Pick<AgentRegistry, 'adapterOf' | 'find'>
    enforcement: Pick<Enforcement, 'openGate' | 'release'>
    handling: Pick<Handling, 'enter' | 'leave'>
    processes: Pick<
      Processes,
      'folderOf' | 'revoke' | 'findKeeper' | 'isOfOther' | 'isAlive' | 'lastWriteOf' | 'hasMessage'
    >
    closing: AbortSignal
    /** Reprise's own files are in the directory that contains it. */
    spool: string
    /** How often in a row a run met a temporary error. */
    temporaryErrors: Map<string, number>
  }

/** Never rejects. */
export async function adoptAttempt(deps: AdoptDeps, run: RunRecord, left: AttemptRecord): Promise<void> {
  const { handling } = deps
  try {
    await handling.enter(run.id)
    await adopt(deps, run, left, 'Reprise was stopped before the agent was started')
  } catch (error) {
    await recover(deps, run, error)
  } finally {
    handling.leave(run.id)
  }
}

async function adopt(deps: AdoptDeps, run: RunRecord, left: AttemptRecord, notStarted: string) {
  const { store, agents, clock, persist, log, enforcement, processes } = deps
  const attempt = await persist(() => store.takeOver(left, clock.now()))
  const dir = processes.folderOf(attempt.spool)
  if (await processes.revoke(dir)) {
    enforcement.release(dir)
    return await withdraw(deps, run, attempt, notStarted)
  }
  const keeper = attempt.process ?? (await processes.findKeeper(dir, attempt.spool)) ?? GONE
  if (processes.isOfOther(keeper, dir)) return await leaveToOther(deps, run, attempt)
  const session = await store.getSession(attempt.sessionId)
  const adapter = await agents.adapterOf(run.agent, session?.runtimeId ?? '')
  const { id: promptName } = adapter.prompt(attempt.promptId, [], attempt)
  if (joinedProcess(attempt) && !processes.hasMessage(dir, promptName)) {
    await processes.endStrays(attempt.spool, keeper, deps.settings.killAfterMs)
    return await withdraw(deps, run, attempt, notStarted)
  }
  if (attempt.process === null) await persist(() => store.markLaunched(attempt, keeper))
  log.info({ run: run.id, attempt: attempt.id, pid: keeper.pid }, 'adopted an attempt')
  const goneSince = processes.isAlive(keeper) ? null : await processes.lastWriteOf(dir)
  const agent = { adapter, env: agents.find(run.agent, run.id)?.env ?? {} }
  const gate = enforcement.openGate(run, attempt, agent, dir)
  await attend(deps, { run, attempt, adapter, dir, keeper, gate }, goneSince)
}

/** Called after an error on the path. Waits if it is temporary; otherwise the run settles. Never rejects. */
export async function recover(deps: AdoptDeps, run: RunRecord, error: unknown): Promise<void> {
  const { store, clock, persist, log, temporaryErrors, closing } = deps
  let failure = error
  for (;;) {
    const temporary = findTemporary(failure, dirname(deps.spool))
    if (temporary === null) return await giveUp(deps, run, failure)
    const failures = (temporaryErrors.get(run.id) ?? 0) + 1
    temporaryErrors.set(run.id, failures)
    const pauseMs = pauseAfterTemporaryMs(failures)
    const until = new Date(clock.now().getTime() + pauseMs)
    const tried = failures === 1 ? 'tried once' : `tried ${failures} times`
    const why = `this machine cannot do it at present: ${temporary}; ${tried}, next try at ${until.toISOString()}; continues automatically`
    log.warn({ run: run.id, failures, retryInMs: pauseMs }, temporary)
    try {
      const open = (await store.listAttempts(run.id)).find(({ state }) => state !== 'ended')
      if (!open) return await persist(() => store.postponeRun(run.id, until, why))
      await persist(() => store.addEvents(open, [{ type: 'note', text: why }], clock.now()))
      deps.bus.publish(run.id)
      await delay(pauseMs, undefined, { signal: closing })
      const now = (await store.getRun(run.id)) ?? run
      await adopt(deps, now, open, temporary)
      temporaryErrors.delete(run.id)
      return
    } catch (next) {
      // The next daemon adopts the attempt.
      if (closing.aborted) return
      failure = next
    }
  }
}
