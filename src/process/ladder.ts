/**
 * Ends an attempt's processes, politely first: say goodbye → SIGTERM to the group → SIGKILL to the group → SIGKILL to
 * whatever left the group (setsid, re-parented, without our environment), found by its marks. Each step is taken only if something is left.
 * Resolves when nothing of the attempt is alive, or tells what would not die.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { findProcesses, isAlive, type ProcessIdentity, signal } from './proc.ts'

export interface LadderInput {
  attemptId: string
  keeper: ProcessIdentity | null
  /** What to do before the first signal, and how long to wait for its effect. */
  farewell: () => Promise<void>
  farewellMs: number
  termMs: number
  killMs: number
}

export interface LadderResult {
  /** Processes outside the group that had to be killed one by one. */
  strays: number
  survivors: number[]
}

export async function endAttempt(input: LadderInput): Promise<LadderResult> {
  const { keeper } = input
  if (keeper && isAlive(keeper)) {
    await input.farewell()
    if (!(await goneWithin([keeper], input.farewellMs))) {
      signal(-keeper.pid, 'SIGTERM')
      if (!(await goneWithin([keeper], input.termMs))) {
        signal(-keeper.pid, 'SIGKILL')
        await goneWithin([keeper], input.killMs)
      }
    }
  }
  return endStrays(input.attemptId, keeper, input.killMs)
}

/** A keeper kills its feeder, which may just have started `mv`: that ends by itself, and is no stray. */
const HELPER_MS = 50

/**
 * A process may start another while we look: look again until none is found. Where there were some, finding none once
 * is no proof: a child may have taken its parent's place while we went through the list.
 */
export async function endStrays(
  attemptId: string,
  keeper: ProcessIdentity | null,
  killMs: number,
): Promise<LadderResult> {
  let strays = 0
  let found = false
  let empty = 0
  for (let round = 0; round < 20; round++) {
    const left = findProcesses(attemptId, keeper)
    found ||= left.length > 0
    empty = left.length === 0 ? empty + 1 : 0
    if (empty > 0 && (!found || empty > 1)) return { strays, survivors: [] }
    if (round === 0 && (await goneWithin(left, HELPER_MS))) continue
    strays += left.length
    for (const { pid } of left) signal(pid, 'SIGKILL')
    await goneWithin(left, killMs)
  }
  return { strays, survivors: findProcesses(attemptId, keeper).map(({ pid }) => pid) }
}

const POLL_MS = 10

/** Looks often at first: what has been told to end mostly does so within a millisecond or two. */
export async function goneWithin(processes: readonly ProcessIdentity[], ms: number): Promise<boolean> {
  for (let waited = 0, step = 1; ; waited += step, step = Math.min(step * 2, POLL_MS)) {
    if (!processes.some(isAlive)) return true
    if (waited >= ms) return false
    await delay(step)
  }
}
