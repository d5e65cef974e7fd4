/** Reads how much memory processes use, and how much the machine, or the container, has left. */
import { readFile } from 'node:fs/promises'
import { findProcesses, type ProcessIdentity } from './proc.ts'

export interface MachineMemory {
  availableBytes: number
  totalBytes: number
  /** The share of the last ten seconds in which some process waited for memory; 0 if the kernel does not say. */
  stalledPercent: number
}

export async function readMemory(): Promise<MachineMemory> {
  const [machine, pressure, group] = await Promise.all([
    readText('/proc/meminfo'),
    readText('/proc/pressure/memory'),
    readGroup('/sys/fs/cgroup'),
  ])
  const totalBytes = kilobytes(machine, 'MemTotal')
  const availableBytes = kilobytes(machine, 'MemAvailable')
  return {
    totalBytes: Math.min(totalBytes, group.totalBytes),
    availableBytes: Math.min(availableBytes, group.availableBytes),
    stalledPercent: Number(/^some avg10=([\d.]+)/m.exec(pressure)?.[1] ?? 0),
  }
}

/** The limit of a container, if there is one. Cached files in it can be given up. */
async function readGroup(dir: string): Promise<{ totalBytes: number; availableBytes: number }> {
  const [max, current, stat] = await Promise.all(
    ['memory.max', 'memory.current', 'memory.stat'].map((name) => readText(`${dir}/${name}`)),
  )
  const totalBytes = Number.parseInt(max ?? '', 10)
  if (!Number.isFinite(totalBytes)) return { totalBytes: Infinity, availableBytes: Infinity }
  const cached = Number(/^inactive_file (\d+)/m.exec(stat ?? '')?.[1] ?? 0)
  return { totalBytes, availableBytes: totalBytes - Number(current) + cached }
}

export async function memoryOf(attemptId: string, keeper: ProcessIdentity): Promise<number> {
  const sizes = findProcesses(attemptId, keeper).map(async ({ pid }) =>
    kilobytes(await readText(`/proc/${pid}/smaps_rollup`), 'Pss'),
  )
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0)
}

const kilobytes = (text: string, name: string) =>
  Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024

const readText = (path: string) => readFile(path, 'utf8').catch(() => '')
