/** Finds the keeper of an attempt that another daemon left, and tells whether it works for this home. */
import { type AttemptDir, readKeeperPid } from './attempt-dir.ts'
import { keepsFolder } from './keeper-folder.ts'
import { hasMarker, identify, isAlive, type ProcessIdentity } from './proc.ts'

const KEEPER_WAIT_MS = 2000

/** The keeper claims its folder before it writes its pid: between the two it may have to be waited for. */
export async function findKeeper(dir: AttemptDir, attemptId: string): Promise<ProcessIdentity | null> {
  for (let waited = 0; waited < KEEPER_WAIT_MS; waited += 20) {
    const pid = await readKeeperPid(dir)
    if (pid !== null) return identifyKeeper(pid, attemptId)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return null
}

/** The keeper, if its pid has been written; it is not waited for. */
export async function readKeeper(dir: AttemptDir, attemptId: string): Promise<ProcessIdentity | null> {
  const pid = await readKeeperPid(dir)
  return pid === null ? null : identifyKeeper(pid, attemptId)
}

const identifyKeeper = (pid: number, attemptId: string): ProcessIdentity | null =>
  hasMarker(pid, attemptId) ? identify(pid) : null

/** Whether the keeper belongs to the original of this home, which is a copy. */
export const isOfOther = (keeper: ProcessIdentity, dir: AttemptDir): boolean =>
  isAlive(keeper) && !keepsFolder(keeper, dir)
