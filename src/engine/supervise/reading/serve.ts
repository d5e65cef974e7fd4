/** The worker's side of thread.ts: reads spools for the main thread. */
import { closeSync, openSync, readSync } from 'node:fs'
import type { MessagePort } from 'node:worker_threads'
import type { AgentAdapter } from '../../../agents/adapter.ts'
import type { Redactor } from '../../../core/redact/redactor.ts'
import { FIRST_CHUNK, nextChunkSize } from '../../../process/chunk-size.ts'
import { SpoolReader, startOf } from './spool-reader.ts'
import type { CrossedBatch, FromThread, OpenReader, ToThread } from './thread.ts'

export interface ServeInput {
  port: MessagePort
  adapters: readonly AgentAdapter[]
  redactor: Redactor
}

export function serveReaders({ port, adapters, redactor }: ServeInput): void {
  const readers = new Map<number, FileReader>()
  const say = (message: FromThread) => port.postMessage(message)
  port.on('message', (message: ToThread) => {
    const { reader } = message
    try {
      if (message.kind === 'open') {
        const adapter = adapters.find(({ name }) => name === message.adapter)
        if (!adapter) throw new Error(`no adapter ${message.adapter}`)
        readers.set(reader, new FileReader(message, adapter, redactor))
      } else if (message.kind === 'read') {
        const file = readers.get(reader)
        if (!file) throw new Error('the reader was not opened')
        say({ kind: 'read', reader, read: file.read(message.last) })
      } else {
        readers.get(reader)?.close()
        readers.delete(reader)
      }
    } catch (error) {
      readers.get(reader)?.close()
      readers.delete(reader)
      say({ kind: 'failed', reader, why: String(error) })
    }
  })
  say({ kind: 'ready' })
}

class FileReader {
  readonly #file: number
  readonly #reader: SpoolReader
  #offset: number
  #chunk = FIRST_CHUNK

  constructor({ path, adapter: _, ...reader }: OpenReader, adapter: AgentAdapter, redactor: Redactor) {
    this.#file = openSync(path, 'r')
    this.#reader = new SpoolReader({ ...reader, adapter, redactor })
    this.#offset = startOf(adapter, reader.from)
  }

  read(last: boolean): CrossedBatch {
    let drained = false
    while (!this.#reader.isFull && !drained) {
      const size = this.#chunk
      // Each read needs a new buffer, because unfinished lines keep references to it.
      const buffer = Buffer.allocUnsafeSlow(size)
      const bytes = readSync(this.#file, buffer, 0, size, this.#offset)
      this.#offset += bytes
      this.#chunk = nextChunkSize(size, bytes)
      drained = bytes === 0
      if (bytes > 0) this.#reader.push(bytes < size ? Buffer.from(buffer.subarray(0, bytes)) : buffer)
    }
    if (drained && last) this.#reader.finish()
    const { batch, ...taken } = this.#reader.take()
    return { ...taken, batch: batch.toPlain(), drained }
  }

  close(): void {
    closeSync(this.#file)
  }
}
