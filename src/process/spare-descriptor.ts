/**
 * Keeps one descriptor in reserve. Whether a process is alive must be known even if all descriptors are in use: a
 * process that cannot be looked at must not be taken for gone.
 */
import { closeSync, openSync } from 'node:fs'

let spare: number | null = hold()

/** Does synchronous work that opens at most one file at a time. If no descriptor is left, it uses the spare one. */
export function withSpareDescriptor<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (spare === null || (code !== 'EMFILE' && code !== 'ENFILE')) throw error
    closeSync(spare)
    try {
      return work()
    } finally {
      spare = hold()
    }
  }
}

function hold(): number | null {
  try {
    return openSync('/dev/null', 'r')
  } catch {
    return null
  }
}
