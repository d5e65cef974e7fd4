/**
 * A lock between processes on one machine: a transaction held open on a separate database. The kernel releases it when
 * the process dies in any way, so it can never be stale.
 */
import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const BUSY = 5

/** null: another process holds it. */
export function lockFile(path: string): { release: () => void } | null {
  const lock = new DatabaseSync(path)
  try {
    chmodSync(path, 0o600)
    lock.exec('pragma busy_timeout = 0; begin exclusive;')
  } catch (cause) {
    lock.close()
    if ((cause as { errcode?: number }).errcode !== BUSY) throw cause
    return null
  }
  return { release: () => lock.close() }
}
