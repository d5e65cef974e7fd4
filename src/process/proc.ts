/**
 * Reads processes from /proc. A pid alone does not identify a process, because pids are reused: a process is identified
 * by pid, start time and boot. Processes of an attempt carry its marks: a variable in the environment, and a limit,
 * which they keep even if they drop the environment (lock-limit.ts).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { isTemporaryCode } from '../core/system-error.ts'
import { carriesLockLimit } from './lock-limit.ts'
import { withSpareDescriptor } from './spare-descriptor.ts'

export const MARKER = 'REPRISE_ATTEMPT'

export interface ProcessIdentity {
  pid: number
  /** Clock ticks since boot, as in /proc/<pid>/stat. */
  startTicks: string
  bootId: string
}

/** Cached: it cannot change while this process lives. */
let bootId: string | null = null

export function readBootId(): string {
  bootId ??= read('/proc/sys/kernel/random/boot_id')?.trim() ?? null
  return bootId ?? 'unknown'
}

export function identify(pid: number): ProcessIdentity | null {
  const stat = readStat(pid)
  return stat && stat.state !== 'Z' ? { pid, startTicks: stat.startTicks, bootId: readBootId() } : null
}

/** A process that cannot be looked at, because the machine lacks descriptors or memory, counts as alive if its pid is used. */
export function isAlive(identity: ProcessIdentity): boolean {
  let now: ProcessIdentity | null
  try {
    now = identify(identity.pid)
  } catch {
    return isUsed(identity.pid)
  }
  return now !== null && now.startTicks === identity.startTicks && now.bootId === identity.bootId
}

function isUsed(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * All processes of the attempt: those that carry one of its marks, and their descendants. None can be older than the
 * keeper, so most processes of the machine need not be inspected.
 */
export function findProcesses(attemptId: string, keeper: ProcessIdentity | null = null): ProcessIdentity[] {
  const bootId = readBootId()
  const oldest = keeper?.bootId === bootId ? Number(keeper.startTicks) : 0
  const all = listStats().filter((stat) => Number(stat.startTicks) >= oldest)
  const found = new Map<number, ProcessIdentity>()
  const add = (stat: ProcStat) => {
    if (found.has(stat.pid)) return
    found.set(stat.pid, { pid: stat.pid, startTicks: stat.startTicks, bootId })
    for (const child of all) if (child.parent === stat.pid) add(child)
  }
  for (const stat of all) if (hasMarker(stat.pid, attemptId) || hasLimit(stat.pid, attemptId)) add(stat)
  return [...found.values()]
}

export function hasMarker(pid: number, attemptId: string): boolean {
  const environ = read(`/proc/${pid}/environ`)
  return environ !== null && `\0${environ}\0`.includes(`\0${MARKER}=${attemptId}\0`)
}

function hasLimit(pid: number, attemptId: string): boolean {
  const limits = read(`/proc/${pid}/limits`)
  return limits !== null && carriesLockLimit(limits, attemptId)
}

/** The attempt that a process belongs to, of any daemon; null if there is none. */
export function readMarker(pid: number): string | null {
  const variables = read(`/proc/${pid}/environ`)?.split('\0') ?? []
  return variables.find((variable) => variable.startsWith(`${MARKER}=`))?.slice(MARKER.length + 1) ?? null
}

export function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name)
  } catch {
    // The process has ended or is not ours: there is nothing to signal.
  }
}

interface ProcStat {
  pid: number
  parent: number
  state: string
  startTicks: string
}

function listStats(): ProcStat[] {
  const self = process.pid
  return withSpareDescriptor(() => readdirSync('/proc')).flatMap((name) => {
    const pid = Number(name)
    const stat = Number.isInteger(pid) && pid !== self ? readStat(pid) : null
    return stat && stat.state !== 'Z' ? [stat] : []
  })
}

/**
 * The command name in /proc/<pid>/stat may contain spaces and parentheses, so fields are counted from its last
 * parenthesis.
 */
function readStat(pid: number): ProcStat | null {
  const text = read(`/proc/${pid}/stat`)
  if (text === null) return null
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { pid, state: fields[0] ?? '', parent: Number(fields[1]), startTicks: fields[19] ?? '' }
}

/** null: the process is gone, or belongs to another user. Throws if the machine lacks descriptors or memory. */
function read(path: string): string | null {
  try {
    // Reading as UTF-8 takes one call. Names and values that are not UTF-8 are of no interest here.
    return withSpareDescriptor(() => readFileSync(path, 'utf8'))
  } catch (error) {
    if (isTemporaryCode((error as NodeJS.ErrnoException).code)) throw error
    return null
  }
}
