/**
 * What an attempt prints, in batches. Read in passing as long as there is little; by the reading thread from the first
 * full batch on that is not all there is, once that thread is ready, and for good: going back and forth would mean
 * reading unfinished lines again and again.
 *
 * in passing → in the thread (asked for batches ahead, so that both sides work) → in passing again, if that fails.
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
  /** Called before something is read here, not in the thread. */
  onChunk?: () => void
  log: Log
}

/** `drained`: there was nothing more to read, and if that was to be the last then it was. */
export interface Batch extends Taken {
  drained: boolean
}

/** How many batches may be on their way: neither side should wait for the other because of one slow one. */
const AHEAD = 2

export class Intake {
  readonly #in: IntakeInput
  #here: SpoolReader
  #there: ThreadReader | null = null
  #ahead: Promise<CrossedBatch>[] = []
  #mayMove = true
  /** Where it can be begun anew, and how much has been given out. */
  #at: Pick<SpoolReaderInput, 'from' | 'storedTo'>

  constructor(input: IntakeInput) {
    this.#in = input
    this.#here = new SpoolReader(input)
    this.#at = { from: input.from, storedTo: input.storedTo }
  }

  /** `last`: the process was gone before this was asked. */
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
    this.#in.log.info({ path }, 'prints so much that it is read in a thread')
    this.#there = thread.open({ path, adapter: adapter.name, seed, maxLineBytes, ...this.#at })
    // It may hold a long unfinished line, which the thread reads again.
    this.#here = new SpoolReader({ ...this.#in, ...this.#at })
    this.#askAhead(this.#there)
  }

  async #readThere(there: ThreadReader, last: boolean): Promise<Batch | null> {
    const ahead = this.#ahead.shift()
    try {
      const read = await (ahead ?? there.read(last))
      if (!read.drained) this.#askAhead(there)
      // What was asked ahead may have been answered before the last bytes came.
      const drained = read.drained && ahead === undefined
      return { ...read, batch: EventBatch.from(read.batch, this.#in.redactor), drained }
    } catch (error) {
      this.#in.log.warn({ error: String(error), path: this.#in.path }, 'is read without a thread again')
      this.#comeBack()
      return null
    }
  }

  #askAhead(there: ThreadReader): void {
    while (this.#ahead.length < AHEAD) {
      const read = there.read(false)
      // It is looked at when its turn comes.
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
