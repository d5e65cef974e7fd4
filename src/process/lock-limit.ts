/**
 * A mark that every process passes on to its children, even if they change environment, parent, session or process
 * group: the limit on file locks (RLIMIT_LOCKS). Linux has not enforced it since 2.4, but every process inherits it,
 * and /proc shows it. Any user may lower it, without a privilege, a namespace or a cgroup.
 *
 * The limit is a number of 60 bits: the lower 48 identify the attempt, the upper 12 are the level. The outermost
 * attempt lowers both limits, soft and hard. An attempt inside another one (a Reprise that an agent has started) finds
 * the hard limit lowered, uses the level below it for the soft limit, and leaves the hard limit alone: its processes
 * still carry the outer attempt's mark.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const NAME_BITS = 48n
const NAME_MASK = (1n << NAME_BITS) - 1n
const OUTERMOST_LEVEL = (1n << 12n) - 1n

export interface LockLimit {
  value: bigint
  /** Only the soft limit is set, because the hard one is the mark of an outer attempt. */
  softOnly: boolean
}

/** `limits` is the content of /proc/self/limits. null: no mark can be set. */
export function planLockLimit(attemptId: string, limits: string): LockLimit | null {
  const current = readLockLimits(limits)
  if (current === null) return null
  const around = current.hard
  const level = around === null ? OUTERMOST_LEVEL : (around >> NAME_BITS) - 1n
  if (level < 1n) return null
  return { value: (level << NAME_BITS) | nameOf(attemptId), softOnly: around !== null }
}

/** `limits` is the content of a process's /proc/<pid>/limits. */
export function carriesLockLimit(limits: string, attemptId: string): boolean {
  const current = readLockLimits(limits)
  if (current === null) return false
  const name = nameOf(attemptId)
  return [current.soft, current.hard].some(
    (value) => value !== null && value >> NAME_BITS > 0n && (value & NAME_MASK) === name,
  )
}

export function readOwnLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/** A field that is null is unlimited. */
function readLockLimits(limits: string): { soft: bigint | null; hard: bigint | null } | null {
  const [, soft, hard] = /^Max file locks +(\d+|unlimited) +(\d+|unlimited) /m.exec(limits) ?? []
  return soft === undefined || hard === undefined ? null : { soft: parse(soft), hard: parse(hard) }
}

const parse = (text: string) => (text === 'unlimited' ? null : BigInt(text))

const nameOf = (attemptId: string) =>
  BigInt(`0x${createHash('sha256').update(attemptId).digest('hex').slice(0, 12)}`)
