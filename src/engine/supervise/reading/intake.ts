/**
 * Reads an attempt's output in batches. It is read on the main thread until a batch is full and there is more to read.
 * From then on the reading thread reads it, once that thread is ready. The switch is permanent, because each switch
 * reads unfinished lines again.
 *
 * main thread → reading thread (batches are requested ahead, so that both threads work) → main thread, if the reading
 * thread fails.
 */
import { EventBatch } from '../../../store/runs/event-batch.ts'
import type { Log } from '../../base/log.ts'
import type { Output } from '../../base/processes.ts'
import { resumeAt, SpoolReader, type SpoolReaderInput, startOf, type Taken } from './spool-reader.ts'
import type { CrossedBatch, ReadingThread, ThreadReader } from './thread.ts'

export interface IntakeInput extends Omit<SpoolReaderInput, 'adapter'> {
  adapter: SpoolReaderInput['adapter'] & { name: string }
  tail: Pick<Output, 'read' | 'seek'>
  path: string
  thread: ReadingThread
  /** Called before a chunk is parsed on the main thread. */
  onChunk?: () => void
  log: Log
}

/** `drained`: there was nothing more to read. If the process has ended, this is the last batch. */
export interface Batch extends Taken {
  drained: boolean
}

/** How many batches are requested ahead, so that one slow batch does not make either thread wait. */
const AHEAD = 2

export class Intake {
  readonly #in: IntakeInput
  #here: SpoolReader
  #there: ThreadReader | null = null
  #ahead: Promise<CrossedBatch>[] = []
  #mayMove = true
  /** Where another reader can continue, and up to where events were returned. */
  #at: Pick<SpoolReaderInput, 'from' | 'storedTo'>

  constructor(input: IntakeInput) {
    this.#in = input
    this.#here = new SpoolReader(input)
    this.#at = { from: input.from, storedTo: input.storedTo }
  }

  /** `last`: the process had ended before this call. */
  async next(last: boolean): Promise<Batch> {
    const batch = (this.#there && (await this.#readThere(this.#there, last))) ?? (await this.#readHere(last))
    this.#at = { from: resumeAt(batch), storedTo: Math.max(batch.offset, this.#at.storedTo) }
    if (!this.#there && !batch.drained) this.#move()
    return batch
  }

  close(): void {
    this.#ahead = []
    this.#there?.close()
    this.#there = null
  }

  async #readHere(last: boolean): Promise<Batch> {
    const { tail } = this.#in
    let drained = false
    while (!this.#here.isFull && !drained) {
      const chunk = await tail.read()
      if (chunk === null) drained = true
      else {
        this.#in.onChunk?.()
        this.#here.push(chunk)
      }
    }
    if (drained && last) this.#here.finish()
    return { ...this.#here.take(), drained }
  }

  #move(): void {
    const { thread, path, adapter, seed, maxLineBytes } = this.#in
    if (!this.#mayMove || !thread.prepare()) return
    this.#in.log.info({ path }, 'large output: reading it in the reading thread')
    this.#there = thread.open({ path, adapter: adapter.name, seed, maxLineBytes, ...this.#at })
    // The old reader may hold a long unfinished line, which the thread reads again.
    this.#here = new SpoolReader({ ...this.#in, ...this.#at })
    this.#askAhead(this.#there)
  }

  async #readThere(there: ThreadReader, last: boolean): Promise<Batch | null> {
    const ahead = this.#ahead.shift()
    try {
      const read = await (ahead ?? there.read(last))
      if (!read.drained) this.#askAhead(there)
      // A batch that was requested ahead may have been read before the last bytes were written.
      const drained = read.drained && ahead === undefined
      return { ...read, batch: EventBatch.from(read.batch, this.#in.redactor), drained }
    } catch (error) {
      this.#in.log.warn({ error: String(error), path: this.#in.path }, 'reading on the main thread again')
      this.#comeBack()
      return null
    }
  }

  #askAhead(there: ThreadReader): void {
    while (this.#ahead.length < AHEAD) {
      const read = there.read(false)
      // The rejection is handled when this batch is awaited.
      read.catch(() => {})
      this.#ahead.push(read)
    }
  }

  #comeBack(): void {
    this.#there?.close()
    this.#there = null
    this.#ahead = []
    this.#mayMove = false
    this.#in.tail.seek(startOf(this.#in.adapter, this.#at.from))
    this.#here = new SpoolReader({ ...this.#in, ...this.#at })
  }
}
