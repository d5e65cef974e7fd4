/**
 * Group commit. Each piece of work is atomic by itself, but pieces that come within one window share one transaction
 * and so one flush to disk. A piece's promise resolves only after that commit, so what a caller is told is on disk.
 *
 * The window applies to streamed agent output. Work that a caller waits for is committed at once, and so is the first
 * piece after a quiet time. While one commit is in progress, new pieces collect for the next one.
 *
 * A commit is flushed to disk if any of its pieces is `durable`, which is the default. One without such a piece is only
 * written: it survives the death of the daemon, and a power cut as soon as a later commit is flushed, because a flush
 * covers everything before it. After a power cut the database is as it was after some commit, never in between. So a
 * piece may be not durable if what it stores can be read or observed again. While there are commits, one is flushed at
 * least every `FLUSH_WITHIN_MS`.
 */
import { type Kysely, sql } from 'kysely'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { Tables } from './schema.ts'
import type { RunListener, Tx, Write } from './transaction.ts'

interface Piece {
  work: (tx: Tx) => Promise<unknown>
  durable: boolean
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** Numbers the changes at the end of a transaction, and notifies listeners after the commit. */
export interface ChangeFeed {
  number: (tx: Tx) => Promise<number | null>
  tell: (newest: number) => void
}

const FLUSH_WITHIN_MS = 5000

/** The connection that writes. */
export interface WriterConnection {
  db: Kysely<Tables>
  /** Sets whether commits are flushed to disk from now on; at first they are. No transaction is open when it is called. */
  setFlush: (flush: boolean) => void
}

export class GroupWriter {
  readonly #db: Kysely<Tables>
  readonly #setFlush: (flush: boolean) => void
  readonly #windowMs: number
  readonly #context: { redactor: Redactor; listeners: readonly RunListener[] }
  readonly #feed: ChangeFeed
  #pieces: Piece[] = []
  #running: Promise<void> | null = null
  #lastCommitAt = Number.NEGATIVE_INFINITY
  #lastFlushAt = Number.NEGATIVE_INFINITY
  #flushes = true
  #hurried = false
  #wake: () => void = () => {}

  constructor(
    { db, setFlush }: WriterConnection,
    windowMs: number,
    context: { redactor: Redactor; listeners: readonly RunListener[] },
    feed: ChangeFeed,
  ) {
    this.#db = db
    this.#setFlush = setFlush
    this.#windowMs = windowMs
    this.#context = context
    this.#feed = feed
  }

  /** For work that a caller waits for: it is committed at once, together with all pieces that are queued. */
  readonly write: Write = (work) => this.enqueue(work, { urgent: true })

  /** Like `write`, for what can be read or observed again after a power cut. */
  readonly writeUnflushed: Write = (work) => this.enqueue(work, { urgent: true, durable: false })

  /** Work that is not urgent waits for the window, to be committed together with other pieces. */
  enqueue<T>(
    work: (tx: Tx) => Promise<T>,
    { urgent = false, durable = true }: { urgent?: boolean; durable?: boolean } = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pieces.push({ work, durable, resolve: resolve as (value: unknown) => void, reject })
      if (urgent) this.hurry()
      this.#running ??= this.#drain()
    })
  }

  /** Resolves when all work enqueued so far is committed. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #drain(): Promise<void> {
    while (this.#pieces.length > 0) {
      const wait = this.#lastCommitAt + this.#windowMs - performance.now()
      if (wait > 0 && !this.#hurried) await this.#waitFor(wait)
      this.#hurried = false
      const batch = this.#pieces
      this.#pieces = []
      await this.#commit(batch)
      this.#lastCommitAt = performance.now()
    }
    this.#running = null
  }

  /** Commits the queued pieces at once. */
  hurry(): void {
    if (this.#pieces.length === 0) return
    this.#hurried = true
    this.#wake()
  }

  #waitFor(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #chooseFlush(flush: boolean): void {
    if (flush === this.#flushes) return
    this.#setFlush(flush)
    this.#flushes = flush
  }

  async #commit(batch: readonly Piece[]): Promise<void> {
    const carryOut = batch.length === 1 ? alone : besideOthers
    const settle: (() => void)[] = []
    let newest: number | null = null
    try {
      const startedAt = performance.now()
      const flush = batch.some(({ durable }) => durable) || startedAt - this.#lastFlushAt > FLUSH_WITHIN_MS
      this.#chooseFlush(flush)
      await this.#db.transaction().execute(async (transaction) => {
        const tx: Tx = Object.assign(transaction, this.#context)
        for (const piece of batch) settle.push(await carryOut(tx, piece))
        newest = await this.#feed.number(tx)
      })
      if (flush) this.#lastFlushAt = startedAt
      if (newest !== null) this.#feed.tell(newest)
      for (const done of settle) done()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}

/**
 * A single piece needs no savepoint: the transaction is enough, and under a savepoint SQLite copies every changed page
 * to a file.
 */
async function alone(tx: Tx, { work, resolve }: Piece): Promise<() => void> {
  const value = await work(tx)
  return () => resolve(value)
}

async function besideOthers(tx: Tx, { work, resolve, reject }: Piece): Promise<() => void> {
  await sql`savepoint piece`.execute(tx)
  let settle: () => void
  try {
    const value = await work(tx)
    settle = () => resolve(value)
  } catch (error) {
    // If the disk fails, the whole transaction was rolled back, and the savepoint with it: none of the pieces is
    // stored.
    await sql`rollback to piece`.execute(tx).catch(() => {
      throw error
    })
    settle = () => reject(error)
  }
  await sql`release piece`.execute(tx)
  return settle
}
