/**
 * A write that must not be given up: the disk may be full for a while, the database busy. Tried again until it works;
 * only an owner that has changed ends it. The agent does not notice: it writes to its spool meanwhile.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { OwnershipLost } from '../store/records.ts'
import type { EngineParts } from './parts.ts'

const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 5000

export async function persist<T>({ log }: Pick<EngineParts, 'log'>, write: () => Promise<T>): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    try {
      return await write()
    } catch (error) {
      if (error instanceof OwnershipLost) throw error
      log.error({ error: String(error), retryInMs: waitMs }, 'could not store; trying again')
      await delay(waitMs)
    }
  }
}
