/**
 * Ends what runs for the calls of an attempt. Normally nothing is left to end: when the sandbox ends, its shims die, and every
 * runner ends its own program. A runner and its program are in one session, whose number is the runner's pid.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { identify, isAlive, type ProcessIdentity, readBootId, signal } from '../proc.ts'
import { CallFolder } from './call-folder.ts'

const POLL_MS = 20

/**
 * Calls that have not been claimed are never started. Programs get SIGTERM, and SIGKILL after `termMs`. Resolves when none is
 * left. Their ends are told by a desk. Returns how many calls had something to end.
 */
export async function endCalls(privateDir: string, termMs: number): Promise<number> {
  const running = CallFolder.openAll(privateDir).flatMap((folder) => {
    folder.revoke('the attempt has ended')
    const progress = folder.progress()
    return progress.at === 'claimed' && progress.runner ? [progress.runner] : []
  })
  const ended = await Promise.all(running.map((runner) => endSession(runner, termMs)))
  return ended.filter(Boolean).length
}

/** Returns whether there was anything to end. */
export async function endSession(runner: ProcessIdentity, termMs: number): Promise<boolean> {
  const found = membersOf(runner)
  // The runner handles SIGTERM, and its watcher ignores it: they write down how the program ended.
  for (const pid of found) signal(pid, 'SIGTERM')
  for (let waited = 0; waited < termMs && membersOf(runner).length > 0; waited += POLL_MS)
    await delay(POLL_MS)
  for (let left = membersOf(runner); left.length > 0; left = membersOf(runner)) {
    for (const pid of left) signal(pid, 'SIGKILL')
    await delay(POLL_MS)
  }
  return found.length > 0
}

/**
 * The number of a session is not used again while a process is in it. If another process has the runner's pid, the session is
 * over, and the number has been used again.
 */
function membersOf(runner: ProcessIdentity): number[] {
  if (runner.bootId !== readBootId() || (!isAlive(runner) && identify(runner.pid) !== null)) return []
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    return Number.isInteger(pid) && sessionOf(pid) === runner.pid ? [pid] : []
  })
}

/** null: the process has ended. */
function sessionOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? null : Number(session)
  } catch {
    return null
  }
}
