/**
 * Recovery: adopts an attempt that another daemon left open. A new fence shuts that daemon out; then the path continues
 * from the stored state. If the agent was never started, its keeper is prevented from starting it and the run is queued
 * again. So it is if the turn was to be given to a kept process and never was; that process is ended.
 */
import type { AgentRegistry } from '../../agents/registry.ts'
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
    store: Pick<Store, 'getSession' | 'takeOver' | 'markLaunched'>
    agents: Pick<AgentRegistry, 'adapterOf' | 'find'>
    enforcement: Pick<Enforcement, 'openGate' | 'release'>
    handling: Pick<Handling, 'enter' | 'leave'>
    processes: Pick<
      Processes,
      'folderOf' | 'revoke' | 'findKeeper' | 'isOfOther' | 'isAlive' | 'lastWriteOf' | 'hasMessage'
    >
  }

/** Never rejects. */
export async function adoptAttempt(deps: AdoptDeps, run: RunRecord, left: AttemptRecord): Promise<void> {
  const { store, agents, clock, persist, log, handling, enforcement, processes } = deps
  try {
    await handling.enter(run.id)
    const attempt = await persist(() => store.takeOver(left, clock.now()))
    const dir = processes.folderOf(attempt.spool)
    if (await processes.revoke(dir)) {
      enforcement.release(dir)
      return await withdraw(deps, run, attempt)
    }
    const keeper = attempt.process ?? (await processes.findKeeper(dir, attempt.spool)) ?? GONE
    if (processes.isOfOther(keeper, dir)) return await leaveToOther(deps, run, attempt)
    const session = await store.getSession(attempt.sessionId)
    const adapter = await agents.adapterOf(run.agent, session?.runtimeId ?? '')
    const { id: promptName } = adapter.prompt(attempt.promptId, [], attempt)
    if (joinedProcess(attempt) && !processes.hasMessage(dir, promptName)) {
      await processes.endStrays(attempt.spool, keeper, deps.settings.killAfterMs)
      return await withdraw(deps, run, attempt)
    }
    if (attempt.process === null) await persist(() => store.markLaunched(attempt, keeper))
    log.info({ run: run.id, attempt: attempt.id, pid: keeper.pid }, 'adopted an attempt')
    const goneSince = processes.isAlive(keeper) ? null : await processes.lastWriteOf(dir)
    const agent = { adapter, env: agents.find(run.agent, run.id)?.env ?? {} }
    const gate = enforcement.openGate(run, attempt, agent, dir)
    await attend(deps, { run, attempt, adapter, dir, keeper, gate }, goneSince)
  } catch (error) {
    await giveUp(deps, run, error)
  } finally {
    handling.leave(run.id)
  }
}
