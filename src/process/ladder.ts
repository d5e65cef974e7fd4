/**
 * Ends an attempt's processes, escalating signals: shutdown message → SIGTERM to the group → SIGKILL to the group →
 * SIGKILL to processes that have left the group (setsid, re-parented, without our environment), found by their marks.
 * Each step is taken only if a process is left. Resolves when no process of the attempt is alive, or returns those that
 * could not be killed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { findProcesses, isAlive, type ProcessIdentity, signal } from './proc.ts'

export interface LadderInput {
  attemptId: string
  keeper: ProcessIdentity | null
  /** The shutdown message that is sent before the first signal, and how long to wait for its effect. */
  farewell: () => Promise<void>
  farewellMs: number
  termMs: number
  killMs: number
}

export interface LadderResult {
  /** The number of processes outside the group that had to be killed one by one. */
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

/**
 * A keeper that kills its feeder may leave an `mv` that the feeder has just started. It ends by itself and is not a
 * stray.
 */
const HELPER_MS = 500

/**
 * A process may start another during the search, so the search is repeated until it finds none. If there were any, one
 * empty search is not enough: a child may have replaced its parent while the list was read.
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

/** Checks often at first: most processes end within a millisecond or two after the signal. */
export async function goneWithin(processes: readonly ProcessIdentity[], ms: number): Promise<boolean> {
  for (let waited = 0, step = 1; ; waited += step, step = Math.min(step * 2, POLL_MS)) {
    if (!processes.some(isAlive)) return true
    if (waited >= ms) return false
    await delay(step)
  }
}
