/**
 * Takes the output of one attempt from its spool file to the store, batch by batch.
 *
 * read → `beforeStore` (what the agent waits for is handled) → stored together with the spool offset → `afterStore`.
 * One batch is written at a time, while the next one is read.
 *
 * Invariants: a batch is stored once, with its offset (I2); batches are stored in the order in which they were read;
 * after a failed write nothing more is stored, and the failure is thrown to whoever reads on; the position that is
 * being handled is recorded before anything is done with it, so that the next daemon knows if this one dies of it
 * (engine/path/quarantine.ts).
 */
import type { AgentAdapter } from '../../agents/adapter.ts'
import type { Message } from '../../agents/protocol.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { SteadyClock } from '../../core/steady-clock.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import type { Handling } from '../../process/handling.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { EventBatch } from '../../store/runs/event-batch.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import type { Persist } from '../base/persist.ts'
import type { Output, Processes } from '../base/processes.ts'
import type { ProgressBus } from '../base/progress.ts'
import { Intake } from './reading/intake.ts'
import type { ReadingThread } from './reading/thread.ts'
import { TornEnd } from './reading/torn-line.ts'

export interface IngestionDeps {
  store: Pick<Store, 'advanceAttempt'>
  clock: SteadyClock
  redactor: Redactor
  /** Parses the output of agents that print too much for the main thread. */
  readingThread: ReadingThread
  /** Records what is being handled, so that the next daemon knows what this one was doing if it crashes. */
  handling: Pick<Handling, 'begin' | 'end' | 'leave'>
  processes: Pick<Processes, 'readSeed' | 'deliver'>
  settings: { maxLineBytes: number }
  bus: Pick<ProgressBus, 'publish'>
  persist: Persist
  log: Log
}

export interface IngestionInput {
  attempt: AttemptRecord
  adapter: AgentAdapter
  dir: AttemptDir
  tail: Output
  /** The spool offset at which reading begins. */
  from: number
}

/** The parts of supervision that act on the output. */
export interface BatchHandlers {
  /** Called with the offset up to which the output has been read, before it is handled. */
  onOutput: (readTo: number) => void
  /** Called if a line was too long or too deeply nested to be read. */
  onMissedLine: () => Promise<void>
  /** Called if a full disk has torn a line of an agent that is at work. */
  onTear: () => Promise<void>
  /** If the daemon dies before the batch is stored, the batch is handled again. */
  beforeStore: (batch: EventBatch) => Promise<void>
  afterStore: (batch: EventBatch, at: Date) => Promise<void>
  /** Whether somebody waits for this batch to be durable. */
  isUrgent: () => boolean
}

interface SpoolRead {
  offset: number
  heldFrom: number | null
}

export class Ingestion {
  readonly #deps: IngestionDeps
  readonly #in: IngestionInput
  readonly #handlers: BatchHandlers
  readonly #intake: Intake
  readonly #tornEnd = new TornEnd()
  /** The write of the newest batch. Never rejects. */
  #storing: Promise<void> = Promise.resolve()
  #failure: { error: unknown } | null = null
  #handledTo: number
  #holdsBack = false

  constructor(deps: IngestionDeps, input: IngestionInput, handlers: BatchHandlers) {
    const { attempt, dir, adapter, tail, from } = input
    this.#deps = deps
    this.#in = input
    this.#handlers = handlers
    this.#handledTo = attempt.spoolOffset
    this.#intake = new Intake({
      tail,
      path: dir.out,
      adapter,
      seed: deps.processes.readSeed(dir),
      redactor: deps.redactor,
      maxLineBytes: deps.settings.maxLineBytes,
      from,
      storedTo: attempt.spoolOffset,
      thread: deps.readingThread,
      onChunk: () => this.#noteReading(),
      log: deps.log,
    })
  }

  /** The spool offset up to which the output has been handled. */
  get handledTo(): number {
    return this.#handledTo
  }

  /** Text that belongs to an unfinished line or stream is held back until the rest of it is read. */
  get holdsBack(): boolean {
    return this.#holdsBack
  }

  /**
   * Reads up to one batch and starts to store it. Returns true if there was nothing more to read; if the process had
   * ended before this call (`last`), everything is stored then.
   */
  async next(last: boolean): Promise<boolean> {
    const drained = await this.#ingest(last)
    if (drained && last) await this.#storing
    this.#throwFailure()
    return drained
  }

  /** Resolves when everything that was read is stored. */
  async settle(): Promise<void> {
    await this.#storing
    this.#throwFailure()
  }

  async close(): Promise<void> {
    await this.#storing
    this.#intake.close()
  }

  async #ingest(last: boolean): Promise<boolean> {
    const { batch, readTo, missedLine, torn, failures, drained, messages, ...read } =
      await this.#intake.next(last)
    for (const error of failures)
      this.#deps.log.error({ error, attempt: this.#in.attempt.id }, 'the parser failed on a line')
    const at = this.#deps.clock.now()
    this.#handlers.onOutput(readTo)
    await this.#reply(messages)
    if (drained && !last && this.#tornEnd.look({ ...read, readTo }, this.#deps.clock.watchedMs()))
      await this.#handlers.onTear()
    if (batch.size === 0) {
      this.#noteRead(this.#handledTo, this.#handledTo)
      return drained
    }
    this.#noteReading()
    if (missedLine) await this.#handlers.onMissedLine()
    this.#holdsBack = read.heldFrom !== null
    await this.#handlers.beforeStore(batch)
    if (torn && !last) await this.#handlers.onTear()
    await this.#storing
    const from = this.#handledTo
    this.#handledTo = read.offset
    if (!this.#failure)
      this.#storing = this.#store(batch, read, at)
        .catch((error) => this.#fail(error))
        .finally(() => this.#noteRead(from, read.offset))
    return drained
  }

  /** Sent before their cause counts as read. If a daemon reads it again, the second delivery has no effect. */
  async #reply(messages: readonly Message[]): Promise<void> {
    for (const message of messages)
      await this.#deps.persist(() => this.#deps.processes.deliver(this.#in.dir, message))
  }

  async #store(batch: EventBatch, { offset, heldFrom }: SpoolRead, at: Date): Promise<void> {
    const { attempt } = this.#in
    const { store, bus, persist } = this.#deps
    const urgent = this.#handlers.isUrgent()
    await persist(() => store.advanceAttempt(attempt, batch, offset, at, { urgent, heldFrom }))
    bus.publish(attempt.runId)
    await this.#handlers.afterStore(batch, at)
  }

  #fail(error: unknown): void {
    this.#failure = { error }
    this.#in.tail.nudge()
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error
  }

  #noteReading(): void {
    const { runId, id } = this.#in.attempt
    this.#deps.handling.begin(runId, 'read', id, this.#handledTo)
  }

  #noteRead(from: number, to: number): void {
    const { runId, id } = this.#in.attempt
    this.#deps.handling.end(runId, 'read', id, from, to)
  }
}
