/**
 * Recovery: adopts an attempt that another daemon left open. A new fence shuts that daemon out; then the path continues
 * from the stored state. If the agent was never started, its keeper is prevented from starting it and the run is queued
 * again.
 */
import type { AgentRegistry } from '../../agents/registry.ts'
import { attemptDir, lastWriteOf, revoke } from '../../process/attempt-dir.ts'
import type { Handling } from '../../process/handling.ts'
import { isAlive } from '../../process/proc.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Enforcement } from '../enforce/enforcement.ts'
import { type AttendDeps, attend } from './attend.ts'
import { type EndRunDeps, giveUp, leaveToOther, withdraw } from './end-run.ts'
import { findKeeper, GONE, isOfOther } from './keepers.ts'

export type AdoptDeps = AttendDeps &
  EndRunDeps & {
    store: Pick<Store, 'getSession' | 'takeOver' | 'markLaunched'>
    agents: Pick<AgentRegistry, 'adapterOf' | 'find'>
    enforcement: Pick<Enforcement, 'openGate'>
    handling: Pick<Handling, 'enter' | 'leave'>
  }

/** Never rejects. */
export async function adoptAttempt(deps: AdoptDeps, run: RunRecord, left: AttemptRecord): Promise<void> {
  const { store, agents, clock, persist, log, handling, enforcement } = deps
  try {
    await handling.enter(run.id)
    const attempt = await persist(() => store.takeOver(left, clock.now()))
    const dir = attemptDir(deps.spool, attempt.id)
    if (await revoke(dir)) return await withdraw(deps, run, attempt)
    const session = await store.getSession(attempt.sessionId)
    const adapter = await agents.adapterOf(run.agent, session?.runtimeId ?? '')
    const keeper = attempt.process ?? (await findKeeper(dir, attempt.id)) ?? GONE
    if (isOfOther(keeper, dir)) return await leaveToOther(deps, run, attempt)
    if (attempt.process === null) await persist(() => store.markLaunched(attempt, keeper))
    log.info({ run: run.id, attempt: attempt.id, pid: keeper.pid }, 'adopted an attempt')
    const goneSince = isAlive(keeper) ? null : await lastWriteOf(dir)
    const gate = enforcement.openGate(run, attempt, { adapter, env: agents.find(run.agent)?.env ?? {} })
    await attend(deps, { run, attempt, adapter, dir, keeper, gate }, goneSince)
  } catch (error) {
    await giveUp(deps, run, error)
  } finally {
    handling.leave(run.id)
  }
}
