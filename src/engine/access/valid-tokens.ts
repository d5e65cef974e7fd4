/**
 * The tokens that are accepted, by the hash of their secret. A token ends when it is dropped or its time is over; its
 * `ended` signal is then aborted, so that streams that were opened with it end, too.
 */
import { createHash } from 'node:crypto'
import type { TokenId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import type { TokenRecord } from '../../store/access/records.ts'

export const hashSecret = (secret: string) => createHash('sha256').update(secret).digest('hex')

export interface ValidToken extends TokenRecord {
  ended: AbortSignal
}

interface Entry {
  token: ValidToken
  end: () => void
}

/** The longest time that a timer can wait. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export class ValidTokens {
  readonly #clock: Pick<Clock, 'now'>
  readonly #byHash = new Map<string, Entry>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** A token of the same id ends: there is one secret for each id. */
  keep(record: TokenRecord): ValidToken {
    this.drop(record.id)
    const ending = new AbortController()
    const token: ValidToken = { ...record, ended: ending.signal }
    const stopTimer = this.#endInTime(token)
    const end = () => {
      stopTimer()
      ending.abort()
    }
    this.#byHash.set(token.hash, { token, end })
    return token
  }

  find(secret: string): ValidToken | null {
    const token = this.#byHash.get(hashSecret(secret))?.token
    if (!token) return null
    if (!this.#isOver(token)) return token
    this.drop(token.id)
    return null
  }

  get(id: TokenId): ValidToken | null {
    return this.list().find((token) => token.id === id) ?? null
  }

  list(): ValidToken[] {
    return [...this.#byHash.values()].map(({ token }) => token).filter((token) => !this.#isOver(token))
  }

  drop(id: TokenId): void {
    for (const [hash, { token, end }] of this.#byHash) {
      if (token.id !== id) continue
      this.#byHash.delete(hash)
      end()
    }
  }

  dropAll(): void {
    for (const { token } of [...this.#byHash.values()]) this.drop(token.id)
  }

  #isOver({ expiresAt }: TokenRecord): boolean {
    return expiresAt !== null && expiresAt <= this.#clock.now()
  }

  #endInTime(token: TokenRecord): () => void {
    if (token.expiresAt === null) return () => {}
    const restMs = Math.max(0, token.expiresAt.getTime() - this.#clock.now().getTime())
    let stop = () => {}
    const timer = setTimeout(
      () => {
        if (this.#isOver(token)) this.drop(token.id)
        else stop = this.#endInTime(token)
      },
      Math.min(restMs + 1, LONGEST_TIMER_MS),
    )
    timer.unref()
    stop = () => clearTimeout(timer)
    return () => stop()
  }
}
