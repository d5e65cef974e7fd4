/**
 * From the bytes of a spool to events, ready to be stored: lines, what the adapter makes of each, secrets held back
 * where they are streamed. Knows nothing of files, processes or time, so that it can work in any thread.
 *
 * A reader may be given up after any `take` and another one begun at `resumeAt` of what was taken: that is what happens
 * when a daemon dies, and when reading moves to a thread or back. Bytes before `storedTo` are read again only for what
 * was held back of them; no event comes of them a second time.
 *
 * Protocol state is not stored. For an adapter that has some, every reader is given the whole spool: lines before `from`
 * only bring the protocol to where it was.
 */
import type { AgentAdapter } from '../../../agents/adapter.ts'
import type { LineReading, Message, ProtocolSeed } from '../../../agents/protocol.ts'
import { Deltas } from '../../../core/redact/deltas.ts'
import type { Redactor } from '../../../core/redact/redactor.ts'
import { LineSplitter, type Piece } from '../../../process/line-splitter.ts'
import { EventBatch } from '../../../store/runs/event-batch.ts'

export interface SpoolReaderInput {
  adapter: Pick<AgentAdapter, 'output'>
  /** For adapters that keep protocol state. */
  seed: ProtocolSeed
  redactor: Redactor
  maxLineBytes: number
  /** Where what is held back begins, or else `storedTo`. The bytes themselves are given from `startOf` on. */
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
  /** What the agent is to be sent because of what was read. */
  messages: Message[]
}

/** How much is read before it is stored. Bounds memory and the size of a transaction. */
export const BATCH_BYTES = 2 << 20

export const resumeAt = ({ offset, heldFrom }: Pick<Taken, 'offset' | 'heldFrom'>) => heldFrom ?? offset

/** Where the bytes begin that a reader must be given. */
export const startOf = ({ output }: SpoolReaderInput['adapter'], from: number) => (output.stateful ? 0 : from)

export class SpoolReader {
  readonly #read: (line: string) => LineReading
  readonly #from: number
  readonly #storedTo: number
  readonly #splitter: LineSplitter
  readonly #deltas: Deltas
  readonly #redactor: Redactor
  #taken: ReturnType<typeof nothing>
  #readTo: number
  #bytes = 0

  constructor({ adapter, seed, redactor, maxLineBytes, from, storedTo }: SpoolReaderInput) {
    this.#read = openOutput(adapter, seed)
    this.#from = from
    this.#storedTo = storedTo
    this.#readTo = startOf(adapter, from)
    this.#splitter = new LineSplitter(maxLineBytes, this.#readTo)
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
    const taken = { ...this.#taken, readTo: this.#readTo, ...this.#position() }
    this.#taken = nothing(this.#redactor)
    this.#bytes = 0
    return taken
  }

  #position(): Pick<Taken, 'offset' | 'heldFrom'> {
    const { position } = this.#splitter
    if (position >= this.#from) return { offset: position, heldFrom: this.#deltas.since }
    return { offset: this.#storedTo, heldFrom: this.#from < this.#storedTo ? this.#from : null }
  }

  #parse(piece: Piece): void {
    if (piece.end <= this.#from) {
      this.#replay(piece)
      return
    }
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
      const { events, messages } = this.#read(piece.text)
      // First: the agent waits for them, whether or not its line can be stored.
      if (messages) this.#taken.messages.push(...messages)
      batch.add(this.#deltas.pass(events, from), piece.text)
    } catch (error) {
      failures.push(String(error))
      batch.add([{ type: 'gap', from, to, reason: 'parser-failed' }])
      this.#taken.missedLine = true
    }
  }

  /** Handled before: only the protocol must know of it. */
  #replay(piece: Piece): void {
    if (piece.kind === 'gap') return
    try {
      this.#read(piece.text)
    } catch {
      // It was told of when the line was read first.
    }
  }

  /** Stored before, all but what was held back: that is held back again. */
  #recall(piece: Piece): void {
    if (piece.kind === 'gap') return
    try {
      this.#deltas.pass(this.#read(piece.text).events, piece.from)
    } catch {
      // It was told of when the line was read first.
    }
  }
}

function openOutput(
  { output }: SpoolReaderInput['adapter'],
  seed: ProtocolSeed,
): (line: string) => LineReading {
  if (!output.stateful) return (line) => ({ events: output.parseLine(line) })
  const protocol = output.createProtocol(seed)
  return (line) => protocol.read(line)
}

const nothing = (redactor: Redactor) => ({
  batch: new EventBatch(redactor),
  missedLine: false,
  failures: [] as string[],
  messages: [] as Message[],
})
