/**
 * Runs a query until the model has said all it wants to say (`end_turn`), or until `maxTurns` turns were taken in all
 * continuations together. After a turn limit the engine itself continues in the same session. Another end that is not
 * natural, such as an answer that reached its length limit, is continued by a further query in the session.
 */
import { RepriseError } from '../contract/errors.ts'
import { ConversationHistory } from './conversation-history.ts'
import type { ProviderMessage, ResultMessage } from './message.ts'
import type { ExecuteOptions } from './options.ts'

export interface ContinuationOptions extends ExecuteOptions {
  /** The limit over all continuations; 20 by default. */
  maxTurns?: number | undefined
  /** The limit of one continuation; by default there is only the limit over all. */
  turnsPerContinuation?: number | undefined
}

export interface TurnState {
  /** Turns so far, over all continuations. */
  currentTurn: number
  maxTurns: number
  toolCalls: number
  toolCallsThisTurn: number
  /** How often the session was continued. */
  continuations: number
}

type Execute = (options: ExecuteOptions, turnsInAll: number | undefined) => AsyncGenerator<ProviderMessage>

const DEFAULT_MAX_TURNS = 20
const MOST_TURNS = 10_000
/** Stop reasons after which the model would say more if it were asked to continue. */
const UNFINISHED: readonly (string | null)[] = ['max_tokens', 'pause_turn', 'tool_use']

/** The messages of all continuations. */
export interface ContinuedMessages<Message = ProviderMessage>
  extends AsyncGenerator<Message, TurnState, void> {
  /** How far it is. */
  readonly state: Readonly<TurnState>
}

export class ContinuedQuery implements ContinuedMessages {
  readonly #state: TurnState
  readonly #messages: AsyncGenerator<ProviderMessage, TurnState, void>
  #current: AsyncGenerator<ProviderMessage> | null = null

  constructor(execute: Execute, options: ContinuationOptions) {
    const { maxTurns = DEFAULT_MAX_TURNS, turnsPerContinuation } = options
    checkTurns('maxTurns', maxTurns)
    if (turnsPerContinuation !== undefined) checkTurns('turnsPerContinuation', turnsPerContinuation)
    this.#state = { currentTurn: 0, maxTurns, toolCalls: 0, toolCallsThisTurn: 0, continuations: 0 }
    const open: Execute = (...asked) => {
      this.#current = execute(...asked)
      return this.#current
    }
    this.#messages = continueQueries(open, options, this.#state)
  }

  get state(): Readonly<TurnState> {
    return this.#state
  }

  next(): Promise<IteratorResult<ProviderMessage, TurnState>> {
    return this.#messages.next()
  }

  /** Ends the current query, also while it waits for a message. */
  async return(): Promise<IteratorResult<ProviderMessage, TurnState>> {
    await this.#current?.return(undefined)
    return this.#messages.return(this.#state)
  }

  async throw(error: unknown): Promise<IteratorResult<ProviderMessage, TurnState>> {
    await this.#current?.return(undefined)
    return this.#messages.throw(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }
}

async function* continueQueries(
  execute: Execute,
  { turnsPerContinuation, maxTurns: _, ...given }: ContinuationOptions,
  state: TurnState,
): AsyncGenerator<ProviderMessage, TurnState, void> {
  const history = new ConversationHistory(given.conversationHistory)
  let options: ExecuteOptions = given
  for (;;) {
    const left = state.maxTurns - state.currentTurn
    const piece = Math.min(turnsPerContinuation ?? left, left)
    history.addUserMessage(options.prompt)
    let last: ResultMessage | null = null
    for await (const message of execute({ ...options, maxTurns: piece }, piece < left ? left : undefined)) {
      if (last !== null && message.type === 'system' && message.subtype === 'init') state.continuations++
      count(message, state)
      history.addMessage(message)
      if (message.type === 'result') last = message
      yield message
    }
    if (!last || last.is_error || !UNFINISHED.includes(last.stop_reason)) return state
    if (state.currentTurn >= state.maxTurns) return state
    state.continuations++
    options = {
      ...given,
      prompt: 'Continue.',
      sdkSessionId: last.session_id,
      conversationHistory: history.getMessages(),
    }
  }
}

function count(message: ProviderMessage, state: TurnState): void {
  if (message.type === 'result') {
    // A result always stands for a turn, so this comes to an end whatever the agent counts.
    state.currentTurn += Math.max(1, message.num_turns)
    state.toolCallsThisTurn = 0
  }
  if (message.type !== 'assistant') return
  const calls = message.message.content.filter((block) => block.type === 'tool_use').length
  state.toolCalls += calls
  state.toolCallsThisTurn += calls
}

function checkTurns(name: string, turns: unknown): void {
  if (Number.isInteger(turns) && Number(turns) >= 1 && Number(turns) <= MOST_TURNS) return
  throw new RepriseError('bad-request', `${name}: expected a whole number from 1 to ${MOST_TURNS}`)
}
