/** Requests to a daemon that may be down, in the middle of a start, or without descriptors. */
import type { World } from '../../test/support/world.ts'

export interface Asker {
  world: World
  /** Violations that were noticed during the round. */
  seen: string[]
}

/** The daemon answered, and a restart will not change its answer. */
export class Refused extends Error {}

/** A daemon that is killed closes its connections. So only one that lives and does not answer takes this long. */
const ANSWER_WITHIN_MS = 60_000

export interface Answer {
  status: number
  /** Undefined if it is not JSON. */
  body: unknown
}

/** Returns null if no daemon answered, which is expected here, unless it takes too long: that is a violation. */
export async function ask(
  { world, seen }: Asker,
  method: string,
  path: string,
  { body, key }: { body?: unknown; key?: string } = {},
): Promise<Answer | null> {
  try {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    const response = await world.request(method, path, body, headers, AbortSignal.timeout(ANSWER_WITHIN_MS))
    return { status: response.status, body: parse(await response.text()) }
  } catch (error) {
    if ((error as Error).name === 'TimeoutError')
      seen.push(`${method} ${path}: no answer within ${ANSWER_WITHIN_MS / 1000} s`)
    return null
  }
}

/** Returns null if no daemon answered, or if it refused because the state has changed. */
export async function read<T>(asker: Asker, path: string): Promise<T | null> {
  const answer = await ask(asker, 'GET', path)
  return answer?.status === 200 ? (answer.body as T) : null
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
