/**
 * A worker thread that reads and parses the spools of agents with large output, so that they do not delay other runs
 * and the work is shared by two processors. It is started when the first reader needs it, and ended a while after the
 * last reader is closed.
 *
 * none → starting → ready → none. The thread may fail at any time: all waiting reads are rejected, and each reader
 * continues without the thread from its last batch (see `resumeAt`). A thread that fails before it is ready is not
 * started again.
 */
import type { Worker } from 'node:worker_threads'
import type { ProtocolSeed } from '../../../agents/protocol.ts'
import type { PlainBatch } from '../../../store/runs/event-batch.ts'
import type { Log } from '../../base/log.ts'
import type { Taken } from './spool-reader.ts'

/** A batch as it is sent between the threads. */
export interface CrossedBatch extends Omit<Taken, 'batch'> {
  batch: PlainBatch
  /** There was nothing more to read. */
  drained: boolean
}

export interface OpenReader {
  path: string
  adapter: string
  seed: ProtocolSeed
  maxLineBytes: number
  from: number
  storedTo: number
}

/** `reader` is the number of the reader, one per spool. */
export type ToThread =
  | ({ kind: 'open'; reader: number } & OpenReader)
  | { kind: 'read'; reader: number; last: boolean }
  | { kind: 'close'; reader: number }

export type FromThread =
  | { kind: 'ready' }
  | { kind: 'read'; reader: number; read: CrossedBatch }
  | { kind: 'failed'; reader: number; why: string }

/** How long an unused thread is kept, because starting one is expensive if readers follow one another. */
const STAY_MS = 10_000

export class ReadingThread {
  readonly #start: () => Worker
  readonly #log: Log
  #unusable = false
  #worker: Worker | null = null
  #ready = false
  /** The pending reads of each reader, in order. */
  #readers = new Map<number, Waiting[]>()
  #last = 0
  #leave: NodeJS.Timeout | null = null

  /** `start` creates a worker that runs serve.ts. */
  constructor(start: () => Worker, log: Log) {
    this.#start = start
    this.#log = log
  }

  /** Whether a reader can be opened now. Starts the thread if there is none, which takes a moment. */
  prepare(): boolean {
    try {
      if (!this.#unusable) this.#worker ??= this.#begin()
    } catch (error) {
      // The system may refuse to create another thread.
      this.#log.error(
        { error: String(error) },
        'could not start the reading thread; spools are read without it',
      )
      this.#unusable = true
    }
    return this.#ready
  }

  open(spool: OpenReader): ThreadReader {
    const reader = ++this.#last
    this.#readers.set(reader, [])
    if (this.#leave) clearTimeout(this.#leave)
    this.#say({ kind: 'open', reader, ...spool })
    return {
      read: (last) =>
        new Promise((resolve, reject) => {
          const waiting = this.#readers.get(reader)
          if (!waiting) return reject(new Error('the reading thread is gone'))
          waiting.push({ resolve, reject })
          this.#say({ kind: 'read', reader, last })
        }),
      close: () => {
        this.#say({ kind: 'close', reader })
        this.#forget(reader)
      },
    }
  }

  async close(): Promise<void> {
    if (this.#leave) clearTimeout(this.#leave)
    const worker = this.#worker
    this.#letGo(new Error('closing'))
    await worker?.terminate()
  }

  #begin(): Worker {
    const worker = this.#start()
    // The thread may be terminated at any time, because its readers can continue elsewhere.
    worker.unref()
    worker.on('message', (message: FromThread) => this.#hear(message))
    const lose = (error: Error) => {
      if (worker !== this.#worker) return
      this.#log.error({ error: String(error) }, 'the reading thread failed; spools are read without it')
      this.#unusable = !this.#ready
      this.#letGo(error)
    }
    worker.on('error', lose)
    worker.on('exit', (code) => lose(new Error(`the reading thread ended with exit code ${code}`)))
    return worker
  }

  #hear(message: FromThread): void {
    if (message.kind === 'ready') {
      this.#ready = true
      return
    }
    const waiting = this.#readers.get(message.reader)?.shift()
    if (!waiting) return
    if (message.kind === 'failed') waiting.reject(new Error(message.why))
    else waiting.resolve(message.read)
  }

  #forget(reader: number): void {
    this.#readers.delete(reader)
    if (this.#readers.size > 0 || !this.#worker) return
    if (this.#leave) clearTimeout(this.#leave)
    this.#leave = setTimeout(() => void this.close(), STAY_MS).unref()
  }

  /** Drops the thread and rejects all pending reads. */
  #letGo(error: Error): void {
    this.#worker = null
    this.#ready = false
    const left = [...this.#readers.values()].flat()
    this.#readers = new Map()
    for (const waiting of left) waiting.reject(error)
  }

  #say(message: ToThread): void {
    this.#worker?.postMessage(message)
  }
}

interface Waiting {
  resolve: (read: CrossedBatch) => void
  reject: (error: unknown) => void
}

/** Reads are answered in the order of the calls. */
export interface ThreadReader {
  read: (last: boolean) => Promise<CrossedBatch>
  close: () => void
}
