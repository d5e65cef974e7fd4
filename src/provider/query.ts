/**
 * One query, as an async generator that starts when it is first asked for a message.
 *
 * not started → admitted → yielding → ended. Every way out of it (the last message, `break`, `return`, `throw`, an
 * abort, the close of the provider) ends in `#finish`, which cancels the run if it is still going and waits until its
 * process is gone. So when the iteration is over, nothing is left running.
 */
import { RepriseError } from '../contract/errors.ts'
import type { RunId } from '../contract/ids.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { Engine } from '../engine/api.ts'
import type { QueryEngine } from '../engine/queries/api.ts'
import { Asks } from './asks.ts'
import { type AttemptFacts, Follower } from './follow.ts'
import type { ProviderMessage } from './message.ts'
import type { CheckedOptions } from './options.ts'
import { explain, type QueryMessages, type Taken, type WhyFresh } from './taken.ts'

export type ProviderEngine = Pick<Engine, 'onProgress' | 'getRun' | 'cancel' | 'answer'> & QueryEngine

export interface QueryHooks {
  onStart: (query: Query) => void
  onMessage: (message: ProviderMessage) => void
  /** Called after the process is gone. */
  onEnd: (query: Query) => Promise<void>
}

export interface QueryInput {
  engine: ProviderEngine
  /** The name of the agent; null: the default one. */
  agent: string | null
  options: CheckedOptions
  /** Continue in the same session after `maxTurns`, up to this many turns. */
  turnsInAll?: number | undefined
  /** Why no session is resumed, if that is known before the start. */
  whyFresh: WhyFresh | null
  hooks: QueryHooks
}

export class Query implements QueryMessages {
  readonly #in: QueryInput
  readonly #messages: AsyncGenerator<ProviderMessage, void, void>
  #whyFresh: WhyFresh | null
  #follower: Follower | null = null
  #admitted: Admitted | null = null
  #taken: Taken | null = null
  #leaving = false
  /** The message that `begin` waited for. */
  #first: Promise<IteratorResult<ProviderMessage, void>> | null = null

  constructor(input: QueryInput) {
    this.#in = input
    this.#whyFresh = input.whyFresh
    this.#messages = this.#run()
  }

  get taken(): Taken | null {
    return this.#taken
  }

  /** Starts the query. Resolves when the agent has begun, so that it is known which way was taken. */
  async begin(): Promise<void> {
    this.#first ??= this.#messages.next()
    await this.#first
  }

  next(): Promise<IteratorResult<ProviderMessage, void>> {
    const first = this.#first
    this.#first = null
    return first ?? this.#messages.next()
  }

  /** Ends the query and its process, also while a message is being waited for. */
  return(): Promise<IteratorResult<ProviderMessage, void>> {
    this.#leave()
    return this.#messages.return()
  }

  throw(error: unknown): Promise<IteratorResult<ProviderMessage, void>> {
    this.#leave()
    return this.#messages.throw(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  async *#run(): AsyncGenerator<ProviderMessage, void, void> {
    const { options, hooks } = this.#in
    const { abortSignal } = options
    if (abortSignal?.aborted) throw aborted(abortSignal)
    hooks.onStart(this)
    const leave = () => this.#leave()
    abortSignal?.addEventListener('abort', leave, { once: true })
    let hasEnded = false
    try {
      this.#admitted = await this.#admit()
      const outcome = yield* this.#follow(this.#admitted.runId)
      hasEnded = outcome !== null
    } finally {
      abortSignal?.removeEventListener('abort', leave)
      try {
        if (this.#admitted) await this.#finish(this.#admitted, hasEnded)
      } finally {
        await hooks.onEnd(this)
      }
    }
    if (abortSignal?.aborted && !hasEnded) throw aborted(abortSignal)
  }

  /** Returns how the run ended; null: it was left before. */
  async *#follow(runId: RunId): AsyncGenerator<ProviderMessage, Outcome | null, void> {
    const { engine, options, hooks } = this.#in
    const asks = new Asks(engine, runId, options.canUseTool)
    const onAttempt = (attempt: AttemptFacts) => this.#note(attempt)
    this.#follower = new Follower({ engine, runId, asks, partial: options.partial, onAttempt })
    const messages = this.#follower.messages()
    try {
      while (!this.#leaving) {
        const { done, value } = await messages.next()
        if (done) return value
        if (this.#leaving) break
        hooks.onMessage(value)
        yield value
      }
      return null
    } finally {
      asks.close()
      await messages.return(null)
    }
  }

  /** A session that Reprise cannot continue is as good as none: the query starts fresh, with its history. */
  async #admit(): Promise<Admitted> {
    const { engine, agent, options, turnsInAll } = this.#in
    const { history, agent: agentOptions, variables } = options
    const base = {
      ...options.request,
      ...(agent === null ? {} : { agent }),
      ...(turnsInAll === undefined ? {} : { continue: true, maxTurnsTotal: turnsInAll }),
    }
    const admit = (sessionId: string | null) =>
      engine.admitQuery({
        request: sessionId === null ? base : { ...base, sessionId },
        history,
        options: agentOptions,
        variables,
      })
    const { run, forget } = await admit(options.resume).catch((error: unknown) => {
      const why = options.resume === null ? null : reasonOf(error)
      if (why === null) throw error
      this.#whyFresh = why
      return admit(null)
    })
    return { runId: run.id, forget }
  }

  #note({ agentSessionId: sessionId, resumed, freshReason }: AttemptFacts): void {
    // A further attempt at a new session resumes it, which is no resume of the session that was asked for.
    if (resumed && this.#taken?.way === 'fresh' && this.#taken.sessionId === sessionId) return
    if (resumed) {
      this.#taken = { way: 'resumed', sessionId }
      return
    }
    const given = freshReason === null || freshReason === 'first-run' ? null : (freshReason as WhyFresh)
    const reason = given ?? this.#whyFresh ?? 'new'
    this.#taken = { way: 'fresh', sessionId, reason, message: explain(reason) }
  }

  /** The run is cancelled at once, although the caller may ask for the next message only later, or never. */
  #leave(): void {
    this.#leaving = true
    this.#follower?.stop()
    if (this.#admitted) void this.#cancel(this.#admitted.runId)
  }

  /** It may have settled meanwhile, which is just as well. */
  async #cancel(runId: RunId): Promise<void> {
    await this.#in.engine.cancel(runId).catch(() => {})
  }

  async #finish({ runId, forget }: Admitted, hasEnded: boolean): Promise<void> {
    const { engine } = this.#in
    try {
      if (hasEnded) return
      await this.#cancel(runId)
      await settled(engine, runId)
    } finally {
      forget()
    }
  }
}

interface Admitted {
  runId: RunId
  forget: () => void
}

/** null: the error has nothing to do with the session. */
function reasonOf(error: unknown): WhyFresh | null {
  if (!(error instanceof RepriseError)) return null
  if (error.code === 'not-found') return 'unknown-session'
  return error.code === 'conflict' ? 'in-conversation' : null
}

/** Resolves when the run is settled: its process and everything it started are gone. */
export async function settled(
  engine: Pick<ProviderEngine, 'onProgress' | 'listSteps'>,
  runId: RunId,
): Promise<void> {
  let wake = () => {}
  const unsubscribe = engine.onProgress(runId, () => wake())
  try {
    for (;;) {
      const next = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 500)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      const steps = await engine.listSteps(runId, 0)
      if (steps.some(({ body }) => body.type === 'run-end')) return wake()
      await next
    }
  } finally {
    unsubscribe()
  }
}

/** As the Agent SDK reports it. */
function aborted({ reason }: AbortSignal): Error {
  const error = new Error('the query was aborted', { cause: reason })
  error.name = 'AbortError'
  return error
}
