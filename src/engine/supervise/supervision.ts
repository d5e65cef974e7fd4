/**
 * Step 5 of the path, for one attempt: has the agent's output read and stored (`ingestion.ts`), answers it and enforces
 * limits until the process has ended. It works the same for a process that was just started and for one that was
 * adopted from a dead daemon: all state is in the store and in the attempt's folder.
 *
 * reading → (turn ended, follow-up due soon: the process is kept and receives it) → (turn ended: shutdown message sent)
 * → (stop requested: signals escalate) → gone. Reading continues in all of these states until the process has ended. If
 * the process may wait for the next run of its session (`mayStay`), supervision ends with its turn instead: `left`.
 *
 * Invariants: events and spool offset are stored together (I2, each line once), and text that was held back from a
 * stream is recovered by reading its lines again; a stop has one cause, the first one; an answer is stored before it is
 * delivered, and may be delivered again; stored events are redacted, but decisions use the agent's original output.
 */
import type { AgentAdapter, StopCause } from '../../agents/adapter.ts'
import type { EventBody } from '../../contract/events.ts'
import type { SteadyClock } from '../../core/steady-clock.ts'
import type { WatchLimits } from '../../core/watchdog.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import type { ProcessIdentity } from '../../process/proc.ts'
import type { TailEnd } from '../../process/tail.ts'
import type { AttemptRecord, QuestionRecord } from '../../store/runs/attempt-records.ts'
import type { EventBatch } from '../../store/runs/event-batch.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Reading } from '../accounting/meter.ts'
import type { NextPrompts } from '../base/next-prompts.ts'
import type { Output, Processes } from '../base/processes.ts'
import type { Gate } from '../enforce/gate.ts'
import { ApiWatch, type ApiWatchDeps } from '../obstacles/api-watch.ts'
import { type AnswerAsksDeps, answerAsks } from './answer-asks.ts'
import { type AnswerRemindersDeps, answerReminders } from './answer-reminders.ts'
import { AttemptWatch, type AttemptWatchDeps } from './attempt-watch.ts'
import { BudgetWatch, type BudgetWatchDeps } from './budget-watch.ts'
import { Ingestion, type IngestionDeps } from './ingestion.ts'
import { OpenQuestions, type OpenQuestionsDeps } from './open-questions.ts'
import { ProcessEnd, type ProcessEndDeps } from './process-end.ts'
import { startOf } from './reading/spool-reader.ts'
import { StorageFailureNotes, type StorageNotesDeps } from './storage-failure-notes.ts'
import { TurnWatch } from './turn-watch.ts'

export type SupervisionDeps = AnswerAsksDeps &
  AnswerRemindersDeps &
  ApiWatchDeps &
  AttemptWatchDeps &
  BudgetWatchDeps &
  IngestionDeps &
  OpenQuestionsDeps &
  ProcessEndDeps &
  StorageNotesDeps & {
    store: Pick<Store, 'setStopCause' | 'hurry'>
    clock: SteadyClock
    nextPrompts: Pick<NextPrompts, 'hold' | 'noteTaken'>
    processes: Pick<Processes, 'follow' | 'poke' | 'endStrays'>
    settings: WatchLimits
  }

export interface SupervisionInput {
  run: RunRecord
  attempt: AttemptRecord
  /** The adapter of the runtime that was started. The configuration of the agent may have changed since. */
  adapter: AgentAdapter
  dir: AttemptDir
  keeper: ProcessIdentity
  /** Set for a run whose tool calls are restricted by rules. */
  gate: Gate | null
  /** The process may wait for another run after its turn, instead of ending with it. */
  mayStay: boolean
  /** Called when the agent starts or stops waiting for a person. */
  onWaiting: (waiting: boolean) => void
  /** Called when the agent has reported the end of a turn, before that is stored. */
  onTurnEnd: () => void
}

/** `left`: the turn is over and the process waits; all of its output up to the offset is stored. */
export type SupervisionEnd = (TailEnd | { kind: 'left'; starved: false; offset: number }) & {
  strays: number
}

/** Events that are only counted. */
const COUNTED_ONLY: ReadonlySet<EventBody['type']> = new Set([
  'model-request',
  'model-call',
  'tool-start',
  'compaction',
  'reminder-ask',
])
const TORN = 'the disk was full for a moment: a line of its output was written only in part'
const TURNS = ['prompt-accept', 'session-start', 'background', 'turn-end'] as const

export class Supervision {
  readonly #deps: SupervisionDeps
  readonly #in: SupervisionInput
  readonly #tail: Output
  readonly #ingestion: Ingestion
  readonly #turn: TurnWatch
  readonly #questions: OpenQuestions
  readonly #storageFailureNotes: StorageFailureNotes
  readonly #watch: AttemptWatch
  readonly #api: ApiWatch
  readonly #end: ProcessEnd
  readonly #budget: BudgetWatch
  #detached = false
  #strays = 0
  #isLeft = false

  constructor(deps: SupervisionDeps, input: SupervisionInput) {
    const { attempt, dir, keeper } = input
    this.#deps = deps
    this.#in = input
    const from = attempt.heldFrom ?? attempt.spoolOffset
    this.#tail = deps.processes.follow(dir, keeper, startOf(input.adapter, from))
    const output = { attempt, adapter: input.adapter, dir, tail: this.#tail, from }
    this.#ingestion = new Ingestion(deps, output, {
      onOutput: (readTo) => this.#watch.noteOutput(readTo),
      onMissedLine: () => this.#stopIfUnchecked(),
      onTear: () => this.#stopForDisk(TORN),
      beforeStore: (batch) => this.#attend(batch),
      afterStore: (batch, at) => this.#actOn(batch, at),
      isUrgent: () => this.#hasEnded,
    })
    this.#watch = new AttemptWatch(deps, attempt, from)
    this.#turn = new TurnWatch(deps, input)
    this.#api = new ApiWatch(deps, input)
    this.#storageFailureNotes = new StorageFailureNotes(deps, attempt)
    this.#questions = new OpenQuestions(deps, input, () => this.#noteWaiting())
    this.#budget = new BudgetWatch(deps, input.run, input.adapter.pricing)
    this.#end = new ProcessEnd(deps, { ...input, addressee: this.#turn.addressee }, () => this.#tail.nudge())
  }

  /**
   * Resolves when the process is gone, or waits after its turn, and everything it printed is stored; null if detached
   * before that.
   */
  async run(): Promise<SupervisionEnd | null> {
    const { attempt, keeper } = this.#in
    const { settings, processes } = this.#deps
    try {
      await this.#catchUp()
      while (!this.#detached) {
        const end = await this.#tail.end()
        // Processes that outlive their keeper can still write and act, so they are ended before the rest is read.
        if (end?.kind === 'lost') {
          this.#strays += (await processes.endStrays(attempt.spool, keeper, settings.killAfterMs)).strays
        }
        const drained = await this.#ingestion.next(end !== null)
        if (drained) await this.#storageFailureNotes.look()
        const full = drained ? await this.#storageFailureNotes.findFull(this.#ingestion.handledTo) : null
        if (full !== null && !end) await this.#stopForDisk(full)
        // The disk may have been full while no daemon watched it.
        if (drained && full === null && end?.kind === 'lost' && end.unwritten)
          await this.#storageFailureNotes.addGap(this.#ingestion.handledTo)
        if (drained && end) return { ...end, strays: this.#strays }
        if (drained && (await this.#leave()))
          return { kind: 'left', starved: false, offset: this.#ingestion.handledTo, strays: this.#strays }
        if (drained) this.#deps.handling.leave(attempt.runId)
        if (drained) await this.#watchAndWait()
      }
      return null
    } finally {
      await this.#ingestion.close()
      if (this.#detached) await this.#watch.store().catch(() => {})
      await this.#end.finished()
      this.#api.close()
      await this.#tail.close()
    }
  }

  /** What the attempt has done so far; null if it is not measured. */
  read(): Reading | null {
    return this.#budget.read()
  }

  /** Stops the attempt if the budget is used up. */
  async #holdToBudget(): Promise<void> {
    const over = this.#watch.isOver ? null : await this.#budget.findOverspending()
    if (over !== null) await this.stop('budget', over)
  }

  /** Stops supervising and leaves the process to the daemon that adopts it. */
  detach(): void {
    this.#detached = true
    this.#tail.nudge()
  }

  /** Returns false if the attempt is already being stopped: the first cause wins. */
  async stop(cause: StopCause, message: string): Promise<boolean> {
    const { attempt } = this.#in
    const first = await this.#deps.persist(() =>
      this.#deps.store.setStopCause(attempt, cause, message, this.#deps.clock.now()),
    )
    if (first) {
      this.#deps.bus.publish(attempt.runId)
      // Whether a process that waits is ended is decided with the end of its attempt.
      if (!this.#isLeft) this.#end.force(cause)
    }
    return first
  }

  /** Sends a stored answer to the agent. */
  deliverAnswer(question: QuestionRecord): Promise<void> {
    return this.#questions.deliverAnswer(question)
  }

  /** Completes what an earlier daemon may have left unfinished: undelivered messages and answers, and a stop. */
  async #catchUp(): Promise<void> {
    const { attempt, dir } = this.#in
    const { store } = this.#deps
    this.#deps.processes.poke(dir)
    await this.#budget.open(attempt)
    await this.#api.catchUp()
    const turns = await store.listEvents(attempt.runId, { attemptId: attempt.id, types: TURNS })
    if (attempt.process !== null)
      await this.#deps.nextPrompts.noteTaken(attempt, takenIn(turns.map(({ body }) => body)))
    await this.#questions.catchUp()
    this.#noteWaiting()
    this.#watch.noteAdopted()
    this.#turn.follow(turns.map(({ body }) => body))
    await this.#shutDownIfDone()
    if (attempt.stopCause) this.#end.force(attempt.stopCause as StopCause)
  }

  /** The disk was full, and what the agent printed then is lost. It may wait for an answer that nobody knows of. */
  async #stopForDisk(message: string): Promise<void> {
    if (!this.#turn.isDone) await this.stop('disk-full', message)
  }

  /**
   * Handles what the agent waits for, before the batch is stored. If the daemon dies in between, it is handled again.
   */
  async #attend(batch: EventBatch): Promise<void> {
    if (await answerAsks(this.#deps, this.#in, batch)) this.#turn.notePlanned()
    await answerReminders(this.#deps, this.#in, batch)
    this.#turn.follow(batch.actedOn)
    await this.#shutDownIfDone()
    if (batch.actedOn.some(({ type }) => type === 'turn-end')) this.#in.onTurnEnd()
    // The turn has ended, and clients wait for the last events.
    if (this.#hasEnded) this.#deps.store.hurry()
  }

  async #actOn(batch: EventBatch, at: Date): Promise<void> {
    await this.#noteTaken(batch)
    for (const event of batch.actedOn) {
      this.#budget.note(event, at)
      const forApi = await this.#api.note(event, at)
      if (forApi) await this.stop(forApi.cause, forApi.message)
      if (!COUNTED_ONLY.has(event.type)) await this.#react(event, at)
    }
    if (batch.actedOn.some((event) => event.type === 'model-call')) await this.#holdToBudget()
  }

  /** Records accepted follow-ups and messages. The first prompt of the attempt is not one. */
  async #noteTaken(batch: EventBatch): Promise<void> {
    const taken = takenIn(batch.actedOn)
    taken.delete(this.#in.attempt.promptId)
    await this.#deps.nextPrompts.noteTaken(this.#in.attempt, taken)
    // What the process is kept for may have been decided before this was stored.
    if (taken.size > 0) this.#tail.nudge()
  }

  async #react(event: EventBody, at: Date): Promise<void> {
    switch (event.type) {
      case 'question-ask':
      case 'permission-ask':
        return this.#questions.add(event, at)
      case 'question-cancel':
        return this.#questions.close((ask) => ask.requestId === event.requestId)
      case 'tool-end':
        return this.#questions.close((ask) => ask.toolUseId === event.toolUseId)
    }
  }

  /** A line that cannot be read may have asked about a tool call, and the question would never be answered. */
  async #stopIfUnchecked(): Promise<void> {
    if (this.#in.gate)
      await this.stop('output-limit', 'printed a line that is too long or too deeply nested to be checked')
  }

  #noteWaiting(): void {
    const { oldestOpen } = this.#questions
    if (this.#watch.noteQuestion(oldestOpen)) this.#in.onWaiting(oldestOpen !== null)
    this.#tail.nudge()
  }

  async #shutDownIfDone(): Promise<void> {
    if (!this.#turn.isDone) return
    if (this.#watch.isOver || this.#end.isForced) return
    if (await this.#isHeld()) return
    if (this.#stays) return
    this.#watch.noteOver()
    await this.#end.sayFarewell('done')
  }

  get #hasEnded(): boolean {
    return this.#watch.isOver || this.#stays
  }

  /** The turn is over, and the process may wait for the next run. */
  get #stays(): boolean {
    return (
      this.#in.mayStay &&
      this.#turn.isAtRest &&
      this.#questions.oldestOpen === null &&
      !this.#ingestion.holdsBack
    )
  }

  /** Whether the process is left now. Everything that was read is stored then, and nothing stops the process any more. */
  async #leave(): Promise<boolean> {
    if (!this.#stays || this.#watch.isOver || this.#end.isForced || this.#detached) return false
    if (await this.#isHeld()) return false
    await this.#ingestion.settle()
    this.#isLeft = !this.#end.isForced && !this.#detached
    return this.#isLeft
  }

  async #isHeld(): Promise<boolean> {
    const held = await this.#turn.look()
    const isWaiting = held instanceof Date
    if (this.#watch.noteHeld(isWaiting)) this.#in.onWaiting(isWaiting)
    return held !== null
  }

  /** Called when a follow-up was planned or cancelled elsewhere, or a message was stored for the agent. */
  nudge(): void {
    this.#turn.notePlanned()
    this.#tail.nudge()
  }

  async #watchAndWait(): Promise<void> {
    const { settings } = this.#deps
    const { run } = this.#in
    let waitMs = Number.POSITIVE_INFINITY
    if (!this.#end.isForced) {
      if (!this.#hasEnded) await this.#turn.give()
      await this.#shutDownIfDone()
      const maxDurationMs = run.request.maxDurationMs ?? settings.maxDurationMs
      const idleTimeoutMs = await this.#api.idleTimeoutMs()
      const verdict = await this.#watch.judge({ ...settings, maxDurationMs, idleTimeoutMs })
      if (verdict.kind === 'stop') {
        const { cause, message } = this.#api.blameModel(verdict.cause, idleTimeoutMs) ?? verdict
        await this.stop(cause, message)
      } else waitMs = Math.max(1, Math.min(verdict.forMs, this.#turn.waitMs))
    }
    if (!this.#detached) await this.#tail.wait(waitMs)
  }
}

/** The ids of the prompts that the agent reports as accepted. */
const takenIn = (events: readonly EventBody[]): Set<string> =>
  new Set(events.flatMap((body) => (body.type === 'prompt-accept' ? [body.messageId] : [])))
