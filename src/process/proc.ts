/**
 * The kernel's view of processes, from /proc. A pid alone names nobody: it is reused. A process is named by pid,
 * start time and boot. What belongs to an attempt carries its marks, wherever it has gone: a variable in its environment,
 * and a limit, which it also keeps if it drops the environment (lock-limit.ts).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { carriesLockLimit } from './lock-limit.ts'

export const MARKER = 'REPRISE_ATTEMPT'

export interface ProcessIdentity {
  pid: number
  /** Clock ticks after boot, as the kernel counts them. */
  startTicks: string
  bootId: string
}

/** Nobody sees two of them: with the boot ends whoever asks. */
let bootId: string | null = null

export function readBootId(): string {
  bootId ??= read('/proc/sys/kernel/random/boot_id')?.trim() ?? null
  return bootId ?? 'unknown'
}

export function identify(pid: number): ProcessIdentity | null {
  const stat = readStat(pid)
  return stat && stat.state !== 'Z' ? { pid, startTicks: stat.startTicks, bootId: readBootId() } : null
}

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identify(identity.pid)
  return now !== null && now.startTicks === identity.startTicks && now.bootId === identity.bootId
}

/**
 * Everything that belongs to the attempt: what carries one of its marks, and all descendants of that. Nothing older than its
 * keeper can, which spares looking into most of a machine's processes.
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

/** The attempt a process belongs to, of whichever daemon; null: of none. */
export function readMarker(pid: number): string | null {
  const variables = read(`/proc/${pid}/environ`)?.split('\0') ?? []
  return variables.find((variable) => variable.startsWith(`${MARKER}=`))?.slice(MARKER.length + 1) ?? null
}

export function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name)
  } catch {
    // Gone already, or not ours: both mean there is nothing to signal.
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
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    const stat = Number.isInteger(pid) && pid !== self ? readStat(pid) : null
    return stat && stat.state !== 'Z' ? [stat] : []
  })
}

/** The command name in /proc/<pid>/stat may hold spaces and brackets: fields count from its last bracket. */
function readStat(pid: number): ProcStat | null {
  const text = read(`/proc/${pid}/stat`)
  if (text === null) return null
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { pid, state: fields[0] ?? '', parent: Number(fields[1]), startTicks: fields[19] ?? '' }
}

function read(path: string): string | null {
  try {
    // As UTF-8 it is read in one call. Where it is none, in names and values, nothing is looked for.
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
