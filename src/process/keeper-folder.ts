/**
 * Whether a keeper works in this attempt's folder. In a copy of a home the stored process may well be alive: it belongs to
 * the home that was copied, and to the daemon that runs there. To end it, or to wait for what it prints, would be wrong.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AttemptDir } from './attempt-dir.ts'
import type { ProcessIdentity } from './proc.ts'

/** Its arguments name the folder, or it has the folder's FIFO open, as after the home was moved. Unknown counts as yes. */
export function keepsFolder({ pid }: ProcessIdentity, dir: AttemptDir): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return args.includes(dir.path) || hasOpen(pid, join(dir.path, 'hold'))
  } catch {
    return true
  }
}

function hasOpen(pid: number, path: string): boolean {
  const sought = statSync(path, { throwIfNoEntry: false })
  if (!sought) return false
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    const open = statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false })
    return open?.ino === sought.ino && open.dev === sought.dev
  })
}
