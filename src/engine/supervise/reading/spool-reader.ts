/**
 * From the bytes of a spool to events, ready to be stored: lines, what the adapter makes of each, secrets held back
 * where they are streamed. Knows nothing of files, processes or time, so that it can work in any thread.
 *
 * A reader may be given up after any `take` and another one begun at `resumeAt` of what was taken: that is what happens
 * when a daemon dies, and when reading moves to a thread or back. Bytes before `storedTo` are read again only for what
 * was held back of them; no event comes of them a second time.
 */
import type { AgentAdapter } from '../../../agents/adapter.ts'
import { Deltas } from '../../../core/redact/deltas.ts'
import type { Redactor } from '../../../core/redact/redactor.ts'
import { LineSplitter, type Piece } from '../../../process/line-splitter.ts'
import { EventBatch } from '../../../store/runs/event-batch.ts'

export interface SpoolReaderInput {
  adapter: Pick<AgentAdapter, 'parseLine'>
  redactor: Redactor
  maxLineBytes: number
  from: number
  storedTo: number
}

/** What was read since the last time. */
export interface Taken {
  batch: EventBatch
  /** How far it has read; what comes after `offset` is an unfinished line. */
  readTo: number
  /** Everything before it is in this batch or an earlier one. */
  offset: number
  /** Where what is held back begins, if anything is. */
  heldFrom: number | null
  /** A line was too long to be kept, or nested too deeply to be stored. */
  missedLine: boolean
  /** Why lines could not be understood. */
  failures: string[]
}

/** How much is read before it is stored. Bounds memory and the size of a transaction. */
export const BATCH_BYTES = 2 << 20

export const resumeAt = ({ offset, heldFrom }: Pick<Taken, 'offset' | 'heldFrom'>) => heldFrom ?? offset

export class SpoolReader {
  readonly #adapter: SpoolReaderInput['adapter']
  readonly #storedTo: number
  readonly #splitter: LineSplitter
  readonly #deltas: Deltas
  readonly #redactor: Redactor
  #taken: ReturnType<typeof nothing>
  #readTo: number
  #bytes = 0

  constructor({ adapter, redactor, maxLineBytes, from, storedTo }: SpoolReaderInput) {
    this.#adapter = adapter
    this.#storedTo = storedTo
    this.#readTo = from
    this.#splitter = new LineSplitter(maxLineBytes, from)
    this.#deltas = new Deltas(redactor)
    this.#redactor = redactor
    this.#taken = nothing(redactor)
  }

  get isFull(): boolean {
    return this.#bytes >= BATCH_BYTES
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length
    this.#readTo += chunk.length
    for (const piece of this.#splitter.push(chunk)) this.#parse(piece)
  }

  /** No more will come. */
  finish(): void {
    for (const piece of this.#splitter.flush()) this.#parse(piece)
    this.#taken.batch.add(this.#deltas.flush())
  }

  take(): Taken {
    const taken = {
      ...this.#taken,
      readTo: this.#readTo,
      offset: this.#splitter.position,
      heldFrom: this.#deltas.since,
    }
    this.#taken = nothing(this.#redactor)
    this.#bytes = 0
    return taken
  }

  #parse(piece: Piece): void {
    if (piece.end <= this.#storedTo) {
      this.#recall(piece)
      return
    }
    const { batch, failures } = this.#taken
    const { from, end: to } = piece
    if (piece.kind === 'gap') {
      batch.add([{ type: 'gap', from, to, reason: 'line-too-long' }])
      this.#taken.missedLine = true
      return
    }
    try {
      batch.add(this.#deltas.pass(this.#adapter.parseLine(piece.text), from), piece.text)
    } catch (error) {
      failures.push(String(error))
      batch.add([{ type: 'gap', from, to, reason: 'parser-failed' }])
      this.#taken.missedLine = true
    }
  }

  /** Stored before, all but what was held back: that is held back again. */
  #recall(piece: Piece): void {
    if (piece.kind === 'gap') return
    try {
      this.#deltas.pass(this.#adapter.parseLine(piece.text), piece.from)
    } catch {
      // It was told of when the line was read first.
    }
  }
}

const nothing = (redactor: Redactor) => ({
  batch: new EventBatch(redactor),
  missedLine: false,
  failures: [] as string[],
})
