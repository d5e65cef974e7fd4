/** How many connections the daemon accepts: a share of the files that it may have open, because jobs need the rest. */
import { readFileSync } from 'node:fs'

const MOST = 2000
/** The port and the socket get this share each. */
const SHARE = 1 / 5
/** Assumed where the limit cannot be read. */
const COMMON_LIMIT = 1024

export function connectionLimits(openFiles = maxOpenFiles()): { total: number; perAddress: number } {
  const total = Math.min(MOST, Math.floor(openFiles * SHARE))
  return { total, perAddress: Math.ceil(total * 0.75) }
}

function maxOpenFiles(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const soft = /^Max open files +(\d+|unlimited)/m.exec(limits)?.[1]
    return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft ?? COMMON_LIMIT)
  } catch {
    return COMMON_LIMIT
  }
}
