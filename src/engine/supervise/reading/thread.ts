/**
 * One thread that reads and parses the spools of agents that print more than can be read in passing, so that a flood
 * delays nobody else and two processors share the work. Started when the first one is needed, ended a while after the
 * last one is over.
 *
 * none → starting → ready → none. It may fail at any time: whoever waits for it is told, and goes on without it from
 * the last batch that came (see `resumeAt`), for good. One that fails before it is ready will not do better the next
 * time: it is not tried again.
 */
import type { Worker } from 'node:worker_threads'
import type { ProtocolSeed } from '../../../agents/protocol.ts'
import type { PlainBatch } from '../../../store/runs/event-batch.ts'
import type { Log } from '../../base/log.ts'
import type { Taken } from './spool-reader.ts'

/** A batch, as it crosses over. */
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

/** `reader` numbers the spool that is meant. */
export type ToThread =
  | ({ kind: 'open'; reader: number } & OpenReader)
  | { kind: 'read'; reader: number; last: boolean }
  | { kind: 'close'; reader: number }

export type FromThread =
  | { kind: 'ready' }
  | { kind: 'read'; reader: number; read: CrossedBatch }
  | { kind: 'failed'; reader: number; why: string }

/** Where several have something to read in turn, starting anew each time would cost more than staying. */
const STAY_MS = 10_000

export class ReadingThread {
  readonly #start: () => Worker
  readonly #log: Log
  #unusable = false
  #worker: Worker | null = null
  #ready = false
  /** Those who wait for a batch of each, in order. */
  #readers = new Map<number, Waiting[]>()
  #last = 0
  #leave: NodeJS.Timeout | null = null

  /** `start` begins a thread that serves readers (serve.ts). */
  constructor(start: () => Worker, log: Log) {
    this.#start = start
    this.#log = log
  }

  /** Whether one can be opened. Starts the thread if there is none, which takes a moment. */
  prepare(): boolean {
    try {
      if (!this.#unusable) this.#worker ??= this.#begin()
    } catch (error) {
      // There may be no room for another thread.
      this.#log.error({ error: String(error) }, 'the reading thread cannot begin; spools are read without it')
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
    // It has nothing to lose: what it was reading is read again.
    worker.unref()
    worker.on('message', (message: FromThread) => this.#hear(message))
    const lose = (error: Error) => {
      if (worker !== this.#worker) return
      this.#log.error({ error: String(error) }, 'the reading thread failed; spools are read without it')
      this.#unusable = !this.#ready
      this.#letGo(error)
    }
    worker.on('error', lose)
    worker.on('exit', (code) => lose(new Error(`it ended with ${code}`)))
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

  /** Lets go of the thread, and of all who wait for it. */
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

/** Answers come in the order of the questions. */
export interface ThreadReader {
  read: (last: boolean) => Promise<CrossedBatch>
  close: () => void
}
