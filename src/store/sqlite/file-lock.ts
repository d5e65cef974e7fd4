/**
 * A lock for processes on one machine: a transaction held open on a database of its own. The kernel lets go of it when
 * the process dies, however it dies, so it can be neither stale nor forgotten.
 */
import { DatabaseSync } from 'node:sqlite'

const BUSY = 5

/** null: another process holds it. */
export function lockFile(path: string): { release: () => void } | null {
  const lock = new DatabaseSync(path)
  try {
    lock.exec('pragma busy_timeout = 0; begin exclusive;')
  } catch (cause) {
    lock.close()
    if ((cause as { errcode?: number }).errcode !== BUSY) throw cause
    return null
  }
  return { release: () => lock.close() }
}
