/**
 * Follows one query: yields the messages of its attempts in order, the last one a `result`, and reports which session
 * each attempt uses.
 *
 * queued → (attempt-start) reading its output → (attempt-end) the rest of its output → next attempt, or (run-end) done.
 *
 * A result that reports an error is held back until it is known what follows. If the run goes on with another attempt
 * (the session could not be resumed, the agent crashed), the caller never sees it; it is handed out if that attempt only
 * continues after a turn limit, or if the run has ended.
 */
import type { RunId } from '../contract/ids.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { Engine } from '../engine/api.ts'
import type { QueryEngine, QueryStep } from '../engine/queries/api.ts'
import type { QueryOutput } from '../engine/queries/output.ts'
import type { Asks } from './asks.ts'
import type { ProviderMessage, ResultMessage } from './message.ts'
import { resultOf } from './result.ts'

export type FollowEngine = Pick<Engine, 'onProgress' | 'getRun'> &
  Pick<QueryEngine, 'listSteps' | 'openOutput'>

export interface AttemptFacts {
  agentSessionId: string
  resumed: boolean
  freshReason: string | null
}

export interface FollowInput {
  engine: FollowEngine
  runId: RunId
  asks: Asks
  partial: boolean
  onAttempt: (attempt: AttemptFacts) => void
}

/** Only a safeguard: every change is announced. */
const LOOK_AGAIN_MS = 1000

export class Follower {
  readonly #in: FollowInput
  #seq = 0
  #output: QueryOutput | null = null
  #compacting = false
  #held: ResultMessage | null = null
  /** The last message of the newest attempt was a result. */
  #hasResult = false
  #hinted = false
  #stopped = false
  #wake: () => void = () => {}

  constructor(input: FollowInput) {
    this.#in = input
  }

  async *messages(): AsyncGenerator<ProviderMessage, Outcome | null> {
    const { engine, runId } = this.#in
    const unsubscribe = engine.onProgress(runId, () => this.#hint())
    try {
      while (!this.#stopped) {
        const steps = await engine.listSteps(runId, this.#seq)
        for (const step of steps) {
          this.#seq = step.seq
          yield* this.#take(step)
          if (step.body.type === 'run-end') return step.body.outcome
        }
        const found = yield* this.#read()
        if (steps.length === 0 && !found) await this.#wait()
      }
      return null
    } finally {
      unsubscribe()
      await this.#output?.close()
    }
  }

  /** Makes `messages` end soon. */
  stop(): void {
    this.#stopped = true
    this.#hint()
  }

  async *#take({ attemptId, body }: QueryStep): AsyncGenerator<ProviderMessage> {
    const { engine, runId, asks, onAttempt } = this.#in
    switch (body.type) {
      case 'attempt-start':
        if (attemptId === null) return
        this.#compacting = body.makesRoom === true
        this.#hasResult = false
        this.#held = null
        onAttempt({
          agentSessionId: body.agentSessionId,
          resumed: body.resumed,
          freshReason: body.freshReason ?? null,
        })
        this.#output = await engine.openOutput(runId, attemptId)
        return
      case 'permission-ask':
      case 'question-ask':
        if (body.type === 'question-ask' || body.via === 'prompt') asks.noteAsk(body)
        return
      case 'question-cancel':
        return asks.cancel(body.requestId)
      case 'attempt-end':
        yield* this.#read()
        await this.#output?.close()
        this.#output = null
        asks.close()
        if (body.outcome.name === 'turn-limit') yield* this.#release()
        return
      case 'run-end':
        yield* this.#release()
        if (!this.#hasResult) yield resultOf(await engine.getRun(runId), body.outcome)
    }
  }

  /** Yields everything that the agent has printed so far. Returns whether there was something. */
  async *#read(): AsyncGenerator<ProviderMessage, boolean> {
    let found = false
    for (;;) {
      const read = (await this.#output?.read()) ?? null
      if (read === null) return found
      found = true
      for (const item of read) {
        if (item.kind === 'ask') this.#in.asks.noteRequest(item.requestId, item.request)
        else if (!item.partial || this.#in.partial)
          yield* this.#pass(item.message as unknown as ProviderMessage)
      }
      if (this.#stopped) return found
    }
  }

  *#pass(message: ProviderMessage): Generator<ProviderMessage> {
    // Nobody asked for a compaction; that it happened is worth knowing.
    if (this.#compacting && !(message.type === 'system' && message.subtype === 'compact_boundary')) return
    this.#hasResult = message.type === 'result' || (this.#hasResult && message.type === 'system')
    if (message.type === 'result' && message.is_error) this.#held = message
    else yield message
  }

  *#release(): Generator<ProviderMessage> {
    if (this.#held) yield this.#held
    this.#held = null
  }

  #hint(): void {
    this.#hinted = true
    this.#output?.nudge()
    this.#wake()
  }

  async #wait(): Promise<void> {
    if (!this.#hinted) {
      if (this.#output) await this.#output.wait()
      else {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, LOOK_AGAIN_MS)
          this.#wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
    }
    this.#hinted = false
  }
}
