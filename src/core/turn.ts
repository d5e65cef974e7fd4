/**
 * Whether an agent is done with what it was asked. That it says "my turn is over" is not enough:
 *
 * - Sub-agents may work on in the background. When one is done the agent begins another turn, with its result.
 * - Before it takes our prompt, an agent may report an empty turn about what was left from the last process.
 *
 * open ⇄ over (sub-agents at work, or just finished) → done. Nothing but a new turn leads back from over to open.
 */
import type { EventBody, EventOf } from '../contract/events.ts'

export interface TurnState {
  /** Our prompt was taken from the input. */
  accepted: boolean
  /** Sub-agents at work. */
  background: number
  /** What the agent said of its newest turn; null while one is under way. */
  end: EventOf<'turn-end'> | null
  /** From when on it is done, unless it begins another turn before; on whatever clock the caller counts time by. */
  doneFromMs: number | null
}

export const NEW_TURN: TurnState = { accepted: false, background: 0, end: null, doneFromMs: null }

export interface TurnFacts {
  /** Of the run's own prompt. */
  promptId: string
  /** How long the agent may take to begin a turn with what its last sub-agent found. */
  lingerMs: number
}

export function followTurn(
  state: TurnState,
  event: EventBody,
  atMs: number,
  { promptId, lingerMs }: TurnFacts,
): TurnState {
  switch (event.type) {
    case 'prompt-accept':
      // Another message of ours begins a turn too.
      return event.messageId === promptId
        ? { ...state, accepted: true }
        : { ...state, end: null, doneFromMs: null }
    case 'session-start':
      return { ...state, end: null, doneFromMs: null }
    case 'background': {
      const emptied = state.background > 0 && event.tasks === 0
      const doneFromMs =
        state.end && event.tasks === 0 ? (emptied ? atMs + lingerMs : state.doneFromMs) : null
      return { ...state, background: event.tasks, doneFromMs }
    }
    case 'turn-end': {
      if (!state.accepted && isEmpty(event)) return state
      const waits = state.background > 0 && event.outcome.name === 'completed'
      return { ...state, end: event, doneFromMs: waits ? null : atMs }
    }
    default:
      return state
  }
}

/** How it ended, if it did: an agent that vanished while its sub-agents worked was not done. */
export function endOfTurn(
  events: readonly { body: EventBody }[],
  promptId: string,
): EventOf<'turn-end'> | null {
  const state = events.reduce((s, { body }) => followTurn(s, body, 0, { promptId, lingerMs: 0 }), NEW_TURN)
  return state.doneFromMs === null ? null : state.end
}

const isEmpty = ({ outcome, turns, text }: EventOf<'turn-end'>) =>
  outcome.name === 'completed' && turns === 0 && !text
