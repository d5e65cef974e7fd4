/**
 * Ends the process of an attempt: first a shutdown message that the agent understands, then signals, with a delay each.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Addressee, AgentAdapter, StopCause } from '../../agents/adapter.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import type { LadderInput } from '../../process/ladder.ts'
import type { ProcessIdentity } from '../../process/proc.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { Log } from '../base/log.ts'
import type { Processes } from '../base/processes.ts'

export interface ProcessEndDeps {
  log: Log
  processes: Pick<Processes, 'deliver' | 'closeInput' | 'end'>
  settings: { termAfterMs: number; killAfterMs: number }
}

export interface ProcessEndInput {
  attempt: AttemptRecord
  adapter: AgentAdapter
  addressee: Addressee
  dir: AttemptDir
  keeper: ProcessIdentity
}

const RETRY_MS = 1000

export class ProcessEnd {
  readonly #deps: ProcessEndDeps
  readonly #in: ProcessEndInput
  readonly #onGone: () => void
  #ladder: Promise<unknown> | null = null

  constructor(deps: ProcessEndDeps, input: ProcessEndInput, onGone: () => void) {
    this.#deps = deps
    this.#in = input
    this.#onGone = onGone
  }

  /** Whether signals are being escalated to end the process. */
  get isForced(): boolean {
    return this.#ladder !== null
  }

  /** Resolves when the escalation of signals has ended the process; at once if there is none. */
  async finished(): Promise<void> {
    await this.#ladder
  }

  /**
   * Sends the shutdown message. A message that cannot be written, because the disk is full, is skipped: an agent that
   * does not exit by itself is ended by signals.
   */
  async sayFarewell(cause: StopCause | 'done'): Promise<void> {
    const { adapter, addressee, attempt, dir } = this.#in
    const { processes } = this.#deps
    const { messages, closeInput } = adapter.farewell(cause, addressee)
    try {
      for (const message of messages) await processes.deliver(dir, message)
      if (closeInput) await processes.closeInput(dir)
    } catch (error) {
      this.#deps.log.warn(
        { attempt: attempt.id, error: String(error) },
        'could not send the shutdown message to the agent',
      )
    }
  }

  /** Starts to end the process by force. Only the first call has an effect. */
  force(cause: StopCause): void {
    const { attempt, keeper, adapter, addressee } = this.#in
    const { termAfterMs, killAfterMs } = this.#deps.settings
    const speaks = adapter.farewell(cause, addressee).messages.length > 0
    this.#ladder ??= this.#endUntilGone({
      attemptId: attempt.spool,
      keeper,
      farewell: () => this.sayFarewell(cause),
      farewellMs: speaks ? termAfterMs : 0,
      termMs: termAfterMs,
      killMs: killAfterMs,
    })
  }

  /** Never rejects. If the processes cannot be looked at, because the machine lacks something, it tries again. */
  async #endUntilGone(input: LadderInput): Promise<void> {
    const { processes, log } = this.#deps
    for (;;) {
      try {
        await processes.end(input)
        return this.#onGone()
      } catch (error) {
        log.warn(
          { attempt: input.attemptId, error: String(error) },
          'could not end the processes; trying again',
        )
        await delay(RETRY_MS)
      }
    }
  }
}
