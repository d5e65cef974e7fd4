/**
 * Retries a write while the disk is full or the database is busy: until it succeeds, until another owner is found, or
 * until this daemon is closing. The agent continues meanwhile and writes to its spool; if the spool is on the same
 * disk, that output may be lost. Any other error is thrown, because a retry would not help.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { RepriseError } from '../../contract/errors.ts'
import { isTemporaryCode } from '../../core/system-error.ts'
import type { Log } from './log.ts'
import type { StorageFailures } from './storage-failures.ts'

const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 5000

/** Thrown when this daemon is closing. The next daemon continues from what is stored. */
export class Detached extends Error {
  override readonly name = 'Detached'
}

/** Retries a write until it succeeds, as described at the top of this file. */
export type Persist = <T>(write: () => Promise<T>) => Promise<T>

export const createPersist =
  (parts: Parameters<typeof persist>[0]): Persist =>
  (write) =>
    persist(parts, write)

export async function persist<T>(
  { log, closing, storageFailures }: { log: Log; closing: AbortSignal; storageFailures?: StorageFailures },
  write: () => Promise<T>,
): Promise<T> {
  let refused = false
  try {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      try {
        return await write()
      } catch (error) {
        if (!isTemporary(error)) throw error
        if (!refused) storageFailures?.begin((error as Error).message)
        refused = true
        log.error({ error: String(error), retryInMs: waitMs }, 'could not store; trying again')
        await delay(waitMs, undefined, { signal: closing }).catch(() => {
          throw new Detached('closing while the disk refuses writes')
        })
      }
    }
  } finally {
    if (refused) storageFailures?.end()
  }
}

function isTemporary(error: unknown): boolean {
  if (error instanceof RepriseError) return error.code === 'home-unusable'
  return isTemporaryCode((error as { code?: unknown } | null)?.code)
}
