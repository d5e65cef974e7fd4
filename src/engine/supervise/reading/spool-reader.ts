/**
 * Turns the bytes of a spool into events that are ready to be stored: splits lines, parses each with the adapter, and
 * holds back streamed text that may be the beginning of a secret. It uses no files, processes or time, so it works in
 * any thread.
 *
 * A reader may be abandoned after any `take`, and another one started at `resumeAt` of the result. That happens when a
 * daemon dies, and when reading moves to a thread or back. Bytes before `storedTo` are read again only for the text
 * that was held back; they produce no event a second time.
 *
 * Protocol state is not stored. If the adapter has protocol state, every reader gets the whole spool; lines before
 * `from` only restore that state.
 */
import type { AgentAdapter } from '../../../agents/adapter.ts'
import type { LineReading, Message, ProtocolSeed } from '../../../agents/protocol.ts'
import { Deltas } from '../../../core/redact/deltas.ts'
import type { Redactor } from '../../../core/redact/redactor.ts'
import { LineSplitter, type Piece } from '../../../process/line-splitter.ts'
import { EventBatch } from '../../../store/runs/event-batch.ts'
import { findTear } from './torn-line.ts'

export interface SpoolReaderInput {
  adapter: Pick<AgentAdapter, 'output'>
  /** For adapters that keep protocol state. */
  seed: ProtocolSeed
  redactor: Redactor
  maxLineBytes: number
  /** Where the text begins that is held back, or else `storedTo`. The bytes are passed from `startOf` on. */
  from: number
  storedTo: number
}

/** What was read since the last `take`. */
export interface Taken {
  batch: EventBatch
  /** How far the reader has read; the bytes after `offset` are an unfinished line. */
  readTo: number
  /** All lines before this offset are in this batch or an earlier one. */
  offset: number
  /** Where the text begins that is held back, if there is any. */
  heldFrom: number | null
  /** A line was too long to be kept, or nested too deeply to be stored. */
  missedLine: boolean
  /** A full disk has torn a line, and others may be missing after it. */
  torn: boolean
  /** Errors of lines that could not be parsed. */
  failures: string[]
  /** Messages that the protocol sends to the agent in reply. */
  messages: Message[]
}

/** How much is read before it is stored. Limits memory and the size of a transaction. */
export const BATCH_BYTES = 2 << 20

export const resumeAt = ({ offset, heldFrom }: Pick<Taken, 'offset' | 'heldFrom'>) => heldFrom ?? offset

/** The offset from which a reader must get the bytes. */
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

  /** Called when no more bytes will follow. */
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
      // The messages are added first, because the agent waits for them even if its line cannot be stored.
      if (messages) this.#taken.messages.push(...messages)
      batch.add(this.#deltas.pass(events, from), piece.text)
      if (events.some(({ type }) => type === 'raw-line')) this.#noteTear(piece.text, piece)
    } catch (error) {
      failures.push(String(error))
      batch.add([{ type: 'gap', from, to, reason: 'parser-failed' }])
      this.#taken.missedLine = true
    }
  }

  #noteTear(line: string, { from, end }: Piece): void {
    const at = findTear(line, from, end - from === Buffer.byteLength(line))
    if (at === null) return
    this.#taken.batch.add([{ type: 'gap', from: at, to: at, reason: 'disk-full' }])
    this.#taken.torn = true
  }

  /** The line was handled before and only updates the protocol state. */
  #replay(piece: Piece): void {
    if (piece.kind === 'gap') return
    try {
      this.#read(piece.text)
    } catch {
      // The failure was reported when the line was first read.
    }
  }

  /** The line was stored before, except for the text that was held back, which is held back again. */
  #recall(piece: Piece): void {
    if (piece.kind === 'gap') return
    try {
      this.#deltas.pass(this.#read(piece.text).events, piece.from)
    } catch {
      // The failure was reported when the line was first read.
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
  torn: false,
  failures: [] as string[],
  messages: [] as Message[],
})
