/** Finds the keeper of an attempt that another daemon left open, and whether it belongs to this home. */
import type { AttemptId } from '../../contract/ids.ts'
import { type AttemptDir, readKeeperPid } from '../../process/attempt-dir.ts'
import { keepsFolder } from '../../process/keeper-folder.ts'
import { hasMarker, identify, isAlive, type ProcessIdentity } from '../../process/proc.ts'

export const GONE: ProcessIdentity = { pid: 0, startTicks: '', bootId: '' }
const KEEPER_WAIT_MS = 2000

/** Waits for a keeper that has claimed its folder but not written its pid yet. */
export async function findKeeper(dir: AttemptDir, attemptId: AttemptId): Promise<ProcessIdentity | null> {
  for (let waited = 0; waited < KEEPER_WAIT_MS; waited += 20) {
    const pid = await readKeeperPid(dir)
    if (pid !== null) return identifyKeeper(pid, attemptId)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return null
}

export const identifyKeeper = (pid: number, attemptId: AttemptId): ProcessIdentity | null =>
  hasMarker(pid, attemptId) ? identify(pid) : null

/** Whether the keeper belongs to the original of this home, which is a copy. */
export const isOfOther = (keeper: ProcessIdentity, dir: AttemptDir): boolean =>
  isAlive(keeper) && !keepsFolder(keeper, dir)
