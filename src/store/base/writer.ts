/**
 * Group commit. Each piece of work is atomic by itself, but pieces that come within one window share one
 * transaction and so one flush to disk. A piece's promise resolves only after that commit: what a caller has
 * been told is on disk.
 *
 * The window is for what an agent streams. What somebody waits for is committed at once, and so is the first piece
 * after a quiet time; while one commit is under way the next one fills by itself.
 */
import { type Kysely, sql } from 'kysely'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { Tables } from './schema.ts'
import type { RunListener, Tx, Write } from './transaction.ts'

interface Piece {
  work: (tx: Tx) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** What numbers the changes of a transaction as the last thing in it, and tells of them once they are committed. */
export interface ChangeFeed {
  number: (tx: Tx) => Promise<number | null>
  tell: (newest: number) => void
}

export class GroupWriter {
  readonly #db: Kysely<Tables>
  readonly #windowMs: number
  readonly #context: { redactor: Redactor; listeners: readonly RunListener[] }
  readonly #feed: ChangeFeed
  #pieces: Piece[] = []
  #running: Promise<void> | null = null
  #lastCommitAt = Number.NEGATIVE_INFINITY
  #hurried = false
  #wake: () => void = () => {}

  constructor(
    db: Kysely<Tables>,
    windowMs: number,
    context: { redactor: Redactor; listeners: readonly RunListener[] },
    feed: ChangeFeed,
  ) {
    this.#db = db
    this.#windowMs = windowMs
    this.#context = context
    this.#feed = feed
  }

  /** Somebody waits for it: it, and all that is there by then, is committed at once. */
  readonly write: Write = (work) => this.enqueue(work, { urgent: true })

  /** What is not urgent may wait for company. */
  enqueue<T>(work: (tx: Tx) => Promise<T>, { urgent = false } = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pieces.push({ work, resolve: resolve as (value: unknown) => void, reject })
      if (urgent) this.hurry()
      this.#running ??= this.#drain()
    })
  }

  /** Resolves when everything given so far is committed. */
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

  /** Commits what is there at once. */
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

  async #commit(batch: readonly Piece[]): Promise<void> {
    const carryOut = batch.length === 1 ? alone : besideOthers
    const settle: (() => void)[] = []
    let newest: number | null = null
    try {
      await this.#db.transaction().execute(async (transaction) => {
        const tx: Tx = Object.assign(transaction, this.#context)
        for (const piece of batch) settle.push(await carryOut(tx, piece))
        newest = await this.#feed.number(tx)
      })
      if (newest !== null) this.#feed.tell(newest)
      for (const done of settle) done()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}

/** The transaction is guard enough. Under a savepoint, SQLite copies every page that changes to a file. */
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
    // Gone with the whole transaction if the disk is in trouble: then nobody's work is stored.
    await sql`rollback to piece`.execute(tx).catch(() => {
      throw error
    })
    settle = () => reject(error)
  }
  await sql`release piece`.execute(tx)
  return settle
}
