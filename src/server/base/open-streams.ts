/**
 * Counts the streams that are open, in all and for each token, and refuses more than the limits. Streams over the port
 * and over the Unix socket are counted apart, so that browsers and scripts cannot use up those of the command line.
 */
import type { Context } from 'hono'
import { RepriseError } from '../../contract/errors.ts'
import { addressOf, callerOf } from './known-caller.ts'

export interface StreamLimits {
  total: number
  perToken: number
}

export const STREAM_LIMITS: StreamLimits = { total: 1500, perToken: 1200 }

export interface StreamPlace {
  /** Aborted when the token of the reader is not valid any more. */
  ended: AbortSignal | null
  leave: () => void
}

const RETRY_AFTER_MS = 5000

export class OpenStreams {
  readonly #limits: StreamLimits
  readonly #counts = new Map<string, number>()

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  /** Throws `rate-limited` if there are too many. */
  enter(c: Context): StreamPlace {
    const caller = callerOf(c)
    const channel = addressOf(c) === null ? 'socket' : 'port'
    const token = `${channel} ${caller?.tokenId ?? ''}`
    this.#check(channel, this.#limits.total, 'in all')
    this.#check(token, this.#limits.perToken, 'for this token')
    this.#add(channel, 1)
    this.#add(token, 1)
    let isOpen = true
    return {
      ended: caller?.ended ?? null,
      leave: () => {
        if (!isOpen) return
        isOpen = false
        this.#add(channel, -1)
        this.#add(token, -1)
      },
    }
  }

  #check(key: string, limit: number, what: string): void {
    if ((this.#counts.get(key) ?? 0) < limit) return
    throw new RepriseError('rate-limited', `${limit} streams are open ${what}, which is the limit`, {
      hint: 'Close some. One stream of GET /api/changes tells about everything.',
      details: { limit, retryAfterMs: RETRY_AFTER_MS },
    })
  }

  #add(key: string, by: number): void {
    const count = (this.#counts.get(key) ?? 0) + by
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}
