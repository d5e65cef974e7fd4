/**
 * Follows the turn of a running agent: whether it has ended, and whether the process is kept for a prompt that is due
 * soon. Also keeps the session id by which the agent is addressed, which the agent may change when it starts.
 */
import type { Addressee, AgentAdapter } from '../../agents/adapter.ts'
import type { EventBody } from '../../contract/events.ts'
import type { SteadyClock } from '../../core/steady-clock.ts'
import { followTurn, NEW_TURN } from '../../core/turn.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Held, Hold, NextPrompts } from '../base/next-prompts.ts'

export interface TurnWatchDeps {
  clock: Pick<SteadyClock, 'now' | 'watchedMs'>
  nextPrompts: Pick<NextPrompts, 'hold'>
}

export interface TurnWatchInput {
  run: RunRecord
  attempt: AttemptRecord
  adapter: AgentAdapter
  dir: AttemptDir
}

export class TurnWatch {
  readonly addressee: Addressee
  readonly #deps: TurnWatchDeps
  readonly #in: TurnWatchInput
  readonly #hold: Hold
  #turn = NEW_TURN
  #heldUntil: Date | null = null

  constructor(deps: TurnWatchDeps, input: TurnWatchInput) {
    this.#deps = deps
    this.#in = input
    this.addressee = { agentSessionId: input.attempt.agentSessionId }
    this.#hold = deps.nextPrompts.hold({ ...input, addressee: this.addressee })
  }

  follow(events: Iterable<EventBody>): void {
    const { attempt, adapter } = this.#in
    const facts = { promptId: attempt.promptId, lingerMs: adapter.lingerMs }
    const nowMs = this.#deps.clock.watchedMs()
    for (const event of events) {
      if (event.type === 'session-start') this.addressee.agentSessionId = event.agentSessionId
      this.#turn = followTurn(this.#turn, event, nowMs, facts)
    }
  }

  /** The agent has finished the work for its prompt. */
  get isDone(): boolean {
    const { doneFromMs } = this.#turn
    return doneFromMs !== null && doneFromMs <= this.#deps.clock.watchedMs()
  }

  /** It has completed its turn, and nothing that it started works in the background. */
  get isAtRest(): boolean {
    const { end, background, others } = this.#turn
    return this.isDone && end?.outcome.name === 'completed' && background + others === 0
  }

  /** A follow-up was planned or cancelled, or a message was stored, which may change what the process waits for. */
  notePlanned(): void {
    this.#hold.notePlanned()
  }

  /** Gives the agent what it may receive in the middle of its turn. */
  give(): Promise<void> {
    return this.#hold.give()
  }

  /** Whether the process is kept after its turn: until a time, or because it was given a prompt. */
  async look(): Promise<Held> {
    const held = await this.#hold.look(this.#turn.end)
    this.#heldUntil = held instanceof Date ? held : null
    return held
  }

  /** How long to wait until the turn is done or a prompt is due. A time in the past was handled and limits nothing. */
  get waitMs(): number {
    const lingersMs = (this.#turn.doneFromMs ?? 0) - this.#deps.clock.watchedMs()
    const heldMs = this.#heldUntil
      ? this.#heldUntil.getTime() - this.#deps.clock.now().getTime()
      : Number.POSITIVE_INFINITY
    return Math.min(lingersMs > 0 ? lingersMs : Number.POSITIVE_INFINITY, heldMs)
  }
}
