/**
 * Real processes, seen from outside. Any process may end between the moment it is listed and the moment it is looked at
 * or signalled; here that is no error.
 */
import { readFileSync } from 'node:fs'

/** `pid` is negative for a process group. Returns false if it has ended. */
export function killIfThere(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  // 0 would be the process group of the tests, -1 every process.
  if (!Number.isInteger(pid) || !pid || pid === -1) throw new Error(`not a process: ${pid}`)
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/** A zombie has ended. */
export function isRunning(pid: number): boolean {
  const state = fieldsOf(pid)?.[0]
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/** null: it has ended. */
export function parentOf(pid: number): number | null {
  const fields = fieldsOf(pid)
  return fields && Number(fields[1])
}

/** Empty if the process has ended, as some of these files also are for a zombie. */
export function readProc(pid: number, file: 'cmdline' | 'environ' | 'stat' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

/** From the third field of `stat` on, because the second, the name, may contain spaces and parentheses. */
function fieldsOf(pid: number): string[] | null {
  const stat = readProc(pid, 'stat')
  return stat === '' ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
