/**
 * Step 5 of the one path, for one attempt: read what the agent prints, store it, answer it, watch over it, until its
 * process is gone. Works the same for a process just started and for one adopted from a daemon that died: all that
 * must be remembered is in the store and in the attempt's folder.
 *
 * reading → (turn over, a follow-up due soon: kept waiting, and given it) → (turn over: farewell said) → (stop requested: ladder running) → gone. Reading goes on through all of
 * them; only the end of the process ends it.
 *
 * Invariants: events and spool offset are stored together (I2, each line once), and what was held back of a stream is
 * found again by reading the lines it came in a second time; a stop has one cause, the first; an
 * answer is stored before it is delivered, and may be delivered again; what is stored as events has no secrets in it,
 * what is acted on is as the agent said it.
 */
import type { AgentAdapter, StopCause } from '../../agents/adapter.ts'
import type { EventBody } from '../../contract/events.ts'
import { overBudget } from '../../core/job/budget.ts'
import { followTurn, NEW_TURN } from '../../core/turn.ts'
import { type AttemptDir, closeInput, deliver, poke } from '../../process/attempt-dir.ts'
import { endAttempt, endStrays } from '../../process/ladder.ts'
import type { ProcessIdentity } from '../../process/proc.ts'
import { Tail, type TailEnd } from '../../process/tail.ts'
import type { AttemptRecord, QuestionRecord, RunRecord } from '../../store/base/records.ts'
import type { EventBatch } from '../../store/runs/event-batch.ts'
import { isUnattended, readAllowance } from '../accounting/allowance.ts'
import { METERED, Meter, type Reading } from '../accounting/meter.ts'
import { readRates } from '../accounting/rates.ts'
import { scanEvents } from '../base/events.ts'
import { persist } from '../base/persist.ts'
import type { Gate } from '../enforce/gate.ts'
import { Hold } from '../follow-ups/hold.ts'
import { markTaken, takenIn } from '../follow-ups/reconcile.ts'
import { ApiWatch } from '../obstacles/api-watch.ts'
import type { EngineParts } from '../parts.ts'
import { answerAsks } from './answer-asks.ts'
import { AttemptWatch } from './attempt-watch.ts'
import { OpenQuestions } from './open-questions.ts'
import { Intake } from './reading/intake.ts'
import { StorageFailureNotes } from './storage-failure-notes.ts'

export interface SupervisionInput {
  run: RunRecord
  attempt: AttemptRecord
  /** Of the runtime that was started; the agent itself may be configured otherwise by now, or no more. */
  adapter: AgentAdapter
  dir: AttemptDir
  keeper: ProcessIdentity
  /** Of a run that is held to rules. */
  gate: Gate | null
  /** Told when the agent begins, and ceases, to wait for a person. */
  onWaiting: (waiting: boolean) => void
}

interface SpoolRead {
  offset: number
  heldFrom: number | null
}

export type SupervisionEnd = TailEnd & { strays: number }

/** Of which nothing follows but a higher count. */
const COUNTED_ONLY: ReadonlySet<EventBody['type']> = new Set([
  'model-request',
  'model-call',
  'tool-start',
  'compaction',
])
const TURNS = ['prompt-accept', 'session-start', 'background', 'turn-end'] as const

export class Supervision {
  readonly #parts: EngineParts
  readonly #in: SupervisionInput
  readonly #tail: Tail
  readonly #intake: Intake
  readonly #hold: Hold
  readonly #questions: OpenQuestions
  readonly #storageFailureNotes: StorageFailureNotes
  readonly #watch: AttemptWatch
  #heldUntil: Date | null = null
  readonly #api: ApiWatch
  #ladder: Promise<unknown> | null = null
  #detached = false
  #strays = 0
  /** The newest batch on its way to the disk. One at a time, in order; the next is read meanwhile. Never rejects. */
  #storing: Promise<void> = Promise.resolve()
  #failure: { error: unknown } | null = null
  #turn = NEW_TURN
  /** Up to where what the spool holds has been acted on. */
  #handledTo: number
  /** Of a run that nobody watches only. */
  #meter: Meter | null = null

  constructor(parts: EngineParts, input: SupervisionInput) {
    const { attempt, dir, keeper } = input
    this.#parts = parts
    this.#in = input
    const from = attempt.heldFrom ?? attempt.spoolOffset
    this.#handledTo = attempt.spoolOffset
    this.#tail = new Tail(dir, keeper, from)
    this.#intake = new Intake({
      tail: this.#tail,
      path: dir.out,
      adapter: input.adapter,
      redactor: parts.redactor,
      maxLineBytes: parts.settings.maxLineBytes,
      from,
      storedTo: attempt.spoolOffset,
      thread: parts.readingThread,
      onChunk: () => this.#noteReading(),
      log: parts.log,
    })
    this.#watch = new AttemptWatch(parts, attempt, from)
    this.#hold = new Hold(parts, input)
    this.#api = new ApiWatch(parts, input)
    this.#storageFailureNotes = new StorageFailureNotes(parts, attempt)
    this.#questions = new OpenQuestions(parts, input, () => this.#noteWaiting())
  }

  /** Resolves when the process is gone and everything it printed is stored; null if detached before that. */
  async run(): Promise<SupervisionEnd | null> {
    const { attempt, keeper } = this.#in
    const { settings } = this.#parts
    try {
      await this.#catchUp()
      while (!this.#detached) {
        const end = await this.#tail.end()
        // What outlives its keeper goes on printing, and acting: it is over only when that is.
        if (end?.kind === 'lost') {
          this.#strays += (await endStrays(attempt.id, keeper, settings.killAfterMs)).strays
        }
        const drained = await this.#ingest(end !== null)
        if (drained && end) await this.#storing
        if (this.#failure) throw this.#failure.error
        if (drained) await this.#storageFailureNotes.look()
        if (drained && end) return { ...end, strays: this.#strays }
        if (drained) this.#parts.handling.leave(attempt.runId)
        if (drained) await this.#watchAndWait()
      }
      return null
    } finally {
      await this.#storing
      if (this.#detached) await this.#watch.store().catch(() => {})
      await this.#ladder
      this.#intake.close()
      this.#api.close()
      await this.#tail.close()
    }
  }

  /** Of a job's run: what the attempt has done so far. */
  read(): Reading | null {
    return this.#meter?.read() ?? null
  }

  /** What is spent cannot be taken back: the call that reaches the limit is the last. */
  async #holdToBudget(): Promise<void> {
    const reading = this.#meter?.read()
    const allowance = reading && (await readAllowance(this.#parts.store, this.#in.run))
    if (!allowance || this.#watch.isOver) return
    const { budget, before } = allowance
    const usd = reading.costUsd === null ? null : (before.usd ?? 0) + reading.costUsd
    const over = overBudget(budget, { usd, tokens: before.tokens + reading.tokens })
    if (over !== null) await this.stop('budget', over)
  }

  async #openMeter(): Promise<void> {
    const { run, attempt } = this.#in
    const { store } = this.#parts
    if (!isUnattended(run) && !(await readAllowance(store, run))) return
    const meter = new Meter(await readRates(store))
    await scanEvents(store, run.id, { attemptId: attempt.id, types: METERED }, ({ body, at }) =>
      meter.note(body, at),
    )
    this.#meter = meter
  }

  /** Stops watching and leaves the process to whoever adopts it. */
  detach(): void {
    this.#detached = true
    this.#tail.nudge()
  }

  /** False if it is being stopped already: the first cause wins. */
  async stop(cause: StopCause, message: string): Promise<boolean> {
    const { attempt } = this.#in
    const first = await persist(this.#parts, () =>
      this.#parts.store.setStopCause(attempt, cause, message, this.#parts.clock.now()),
    )
    if (first) {
      this.#parts.bus.publish(attempt.runId)
      this.#climb(cause)
    }
    return first
  }

  /** Hands a stored answer to the agent. */
  deliverAnswer(question: QuestionRecord): Promise<void> {
    return this.#questions.deliverAnswer(question)
  }

  /** What a daemon before us may have left half-done: unfed messages, undelivered answers, an unfinished stop. */
  async #catchUp(): Promise<void> {
    const { attempt, dir } = this.#in
    const { store } = this.#parts
    poke(dir)
    await this.#openMeter()
    await this.#api.catchUp()
    const turns = await store.listEvents(attempt.runId, { attemptId: attempt.id, types: TURNS })
    if (attempt.process !== null) await markTaken(this.#parts, attempt, takenIn(turns))
    await this.#questions.catchUp()
    this.#noteWaiting()
    this.#watch.noteAdopted()
    const nowMs = this.#parts.clock.watchedMs()
    for (const { body } of turns) this.#turn = followTurn(this.#turn, body, nowMs, attempt.promptId)
    await this.#sayGoodbyeIfDone()
    if (attempt.stopCause) this.#climb(attempt.stopCause as StopCause)
  }

  /** Reads up to a batch and stores it. True if there was nothing more to read. */
  async #ingest(last: boolean): Promise<boolean> {
    const { batch, readTo, missedLine, failures, drained, ...read } = await this.#intake.next(last)
    for (const error of failures)
      this.#parts.log.error({ error, attempt: this.#in.attempt.id }, 'the parser failed on a line')
    const at = this.#parts.clock.now()
    this.#watch.noteOutput(readTo)
    if (batch.size === 0) {
      this.#noteRead(this.#handledTo, this.#handledTo)
      return drained
    }
    this.#noteReading()
    // It may have been a question, which nobody will answer.
    if (missedLine && this.#in.gate)
      await this.stop('output-limit', 'printed a line that is too long or too deeply nested to be checked')
    await this.#attend(batch)
    await this.#storing
    const from = this.#handledTo
    this.#handledTo = read.offset
    if (!this.#failure)
      this.#storing = this.#store(batch, read, at)
        .catch((error) => this.#fail(error))
        .finally(() => this.#noteRead(from, read.offset))
    return drained
  }

  /** What the agent waits for is not kept waiting by the disk: should it get lost, it is seen to again. */
  async #attend(batch: EventBatch): Promise<void> {
    const { promptId } = this.#in.attempt
    if (await answerAsks(this.#parts, this.#in, batch)) this.#hold.notePlanned()
    const nowMs = this.#parts.clock.watchedMs()
    for (const event of batch.actedOn) this.#turn = followTurn(this.#turn, event, nowMs, promptId)
    await this.#sayGoodbyeIfDone()
    // Once its turn is over, somebody waits for whatever still comes.
    if (this.#watch.isOver) this.#parts.store.hurry()
  }

  /** What is being read now begins there: should the daemon die of it, the next one finds out (engine/path/quarantine.ts). */
  #noteReading(): void {
    const { run, attempt } = this.#in
    this.#parts.handling.begin(run.id, 'read', attempt.id, this.#handledTo)
  }

  #noteRead(from: number, to: number): void {
    const { run, attempt } = this.#in
    this.#parts.handling.end(run.id, 'read', attempt.id, from, to)
  }

  #fail(error: unknown): void {
    this.#failure = { error }
    this.#tail.nudge()
  }

  async #store(batch: EventBatch, { offset, heldFrom }: SpoolRead, at: Date): Promise<void> {
    const { attempt } = this.#in
    const { store, bus } = this.#parts
    await persist(this.#parts, () =>
      store.advanceAttempt(attempt, batch, offset, at, { urgent: this.#watch.isOver, heldFrom }),
    )
    bus.publish(attempt.runId)
    await this.#noteTaken(batch)
    for (const event of batch.actedOn) {
      this.#meter?.note(event, at)
      const forApi = await this.#api.note(event, at)
      if (forApi) await this.stop(forApi.cause, forApi.message)
      if (!COUNTED_ONLY.has(event.type)) await this.#react(event, at)
    }
    if (batch.actedOn.some((event) => event.type === 'model-call')) await this.#holdToBudget()
  }

  /** Its first prompt is no follow-up. */
  async #noteTaken(batch: EventBatch): Promise<void> {
    const taken = takenIn(batch.actedOn.map((body) => ({ body })))
    taken.delete(this.#in.attempt.promptId)
    await markTaken(this.#parts, this.#in.attempt, taken)
  }

  async #react(event: EventBody, at: Date): Promise<void> {
    switch (event.type) {
      case 'question-ask':
      case 'permission-ask':
        return this.#questions.add(event, at)
      case 'question-cancel':
        return this.#questions.close((ask) => ask.requestId === event.requestId)
      case 'tool-end':
        this.#in.gate?.noteEnd(event.toolUseId)
        return this.#questions.close((ask) => ask.toolUseId === event.toolUseId)
    }
  }

  #noteWaiting(): void {
    const { oldestOpen } = this.#questions
    if (this.#watch.noteQuestion(oldestOpen)) this.#in.onWaiting(oldestOpen !== null)
    this.#tail.nudge()
  }

  async #sayGoodbyeIfDone(): Promise<void> {
    const { doneFromMs } = this.#turn
    if (doneFromMs === null || doneFromMs > this.#parts.clock.watchedMs()) return
    if (this.#watch.isOver || this.#ladder) return
    if (await this.#isHeld()) return
    this.#watch.noteOver()
    await this.#farewell('done')
  }

  async #isHeld(): Promise<boolean> {
    const held = await this.#hold.look(this.#turn.end)
    const until = held instanceof Date ? held : null
    if (this.#watch.noteHeld(until !== null)) this.#in.onWaiting(until !== null)
    this.#heldUntil = until
    return held !== null
  }

  /** What was planned or cancelled elsewhere changes what it waits for. */
  nudge(): void {
    this.#hold.notePlanned()
    this.#tail.nudge()
  }

  /** How long it is waited for another turn. One that is past has been acted on: the process is held. */
  #lingersMs(): number {
    const leftMs = (this.#turn.doneFromMs ?? 0) - this.#parts.clock.watchedMs()
    return leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY
  }

  #heldMs(): number {
    if (this.#heldUntil === null) return Number.POSITIVE_INFINITY
    return this.#heldUntil.getTime() - this.#parts.clock.now().getTime()
  }

  /** One that cannot be written, because the disk is full, is left out: who does not leave by itself is ended. */
  async #farewell(cause: StopCause | 'done'): Promise<void> {
    const { adapter, attempt, dir } = this.#in
    const { messages, closeInput: close } = adapter.farewell(cause)
    try {
      for (const message of messages) await deliver(dir, message)
      if (close) await closeInput(dir)
    } catch (error) {
      this.#parts.log.warn(
        { attempt: attempt.id, error: String(error) },
        'could not say goodbye to the agent',
      )
    }
  }

  #climb(cause: StopCause): void {
    const { attempt, keeper, adapter } = this.#in
    const { termAfterMs, killAfterMs } = this.#parts.settings
    const speaks = adapter.farewell(cause).messages.length > 0
    this.#ladder ??= endAttempt({
      attemptId: attempt.id,
      keeper,
      farewell: () => this.#farewell(cause),
      farewellMs: speaks ? termAfterMs : 0,
      termMs: termAfterMs,
      killMs: killAfterMs,
    }).then(() => this.#tail.nudge())
  }

  async #watchAndWait(): Promise<void> {
    const { settings } = this.#parts
    const { run } = this.#in
    let waitMs = Number.POSITIVE_INFINITY
    if (!this.#ladder) {
      await this.#sayGoodbyeIfDone()
      const maxDurationMs = run.request.maxDurationMs ?? settings.maxDurationMs
      const idleTimeoutMs = await this.#api.idleTimeoutMs()
      const verdict = await this.#watch.judge({ ...settings, maxDurationMs, idleTimeoutMs })
      if (verdict.kind === 'stop') {
        const { cause, message } = this.#api.blameModel(verdict.cause, idleTimeoutMs) ?? verdict
        await this.stop(cause, message)
      } else waitMs = Math.max(1, Math.min(verdict.forMs, this.#lingersMs(), this.#heldMs()))
    }
    if (!this.#detached) await this.#tail.wait(waitMs)
  }
}
