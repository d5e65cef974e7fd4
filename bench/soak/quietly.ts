import { setTimeout as delay } from 'node:timers/promises'

/** The daemon answered, and a restart will not change its answer. */
export class Refused extends Error {}

const ANSWER_WITHIN_MS = 20_000

/** Returns null if the daemon is down, does not answer, or refuses because the state has changed: all are expected here. */
export async function quietly<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await Promise.race([act(), delay(ANSWER_WITHIN_MS, null, { ref: false })])
  } catch (error) {
    if (error instanceof Refused) throw error
    return null
  }
}
