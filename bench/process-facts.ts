/** Facts about a process from the kernel: memory in MB (10⁶ bytes), processor time in ms. */
import { readFileSync } from 'node:fs'

export const residentMb = (pid: number) => fieldMb(`/proc/${pid}/status`, 'VmRSS')
/** Shared pages are divided among the processes that share them. */
export const proportionalMb = (pid: number) => fieldMb(`/proc/${pid}/smaps_rollup`, 'Pss')

/** Linux reports hundredths of a second here, whatever the frequency of its clock. */
const TICK_MS = 10

export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

function fieldMb(path: string, name: string): number {
  const text = readFileSync(path, 'utf8')
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]
  if (kib === undefined) throw new Error(`no ${name} in ${path}`)
  return (Number(kib) * 1024) / 1e6
}
