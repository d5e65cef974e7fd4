/**
 * Decides whether an agent has finished the work for its prompt. A `turn-end` of the agent is not sufficient:
 *
 * - Sub-agents may still work in the background. When one has finished, the agent starts another turn with its result.
 * - Before an agent accepts the prompt, it may report an empty turn about the work of the last process.
 *
 * open ⇄ over (sub-agents are working, or have just finished) → done. Only a new turn leads back from over to open.
 * From a turn that failed only another prompt of Reprise leads back, for which the process was kept. Otherwise the
 * process is being ended, and a turn that a sub-agent starts there must not hide the failure.
 */
import type { EventBody, EventOf } from '../contract/events.ts'

export interface TurnState {
  /** The agent has accepted the prompt. */
  accepted: boolean
  /** How many sub-agents are working. */
  background: number
  /** How many other background tasks are running, which are not waited for. */
  others: number
  /** The end of the newest turn; null while a turn is running. */
  end: EventOf<'turn-end'> | null
  /** The time from which the agent counts as done, unless it starts another turn before; on the caller's clock. */
  doneFromMs: number | null
}

export const NEW_TURN: TurnState = { accepted: false, background: 0, others: 0, end: null, doneFromMs: null }

export interface TurnFacts {
  /** The message id of the run's own prompt. */
  promptId: string
  /** How long the agent may take to start a turn with the result of its last sub-agent. */
  lingerMs: number
}

export function followTurn(
  state: TurnState,
  event: EventBody,
  atMs: number,
  { promptId, lingerMs }: TurnFacts,
): TurnState {
  const failed = state.accepted && state.end !== null && state.end.outcome.name !== 'completed'
  switch (event.type) {
    case 'prompt-accept':
      // Another message of Reprise starts a turn too.
      return event.messageId === promptId
        ? { ...state, accepted: true }
        : { ...state, end: null, doneFromMs: null }
    case 'session-start':
      return failed ? state : { ...state, end: null, doneFromMs: null }
    case 'background': {
      if (failed) return { ...state, background: event.tasks, others: event.others ?? 0 }
      const emptied = state.background > 0 && event.tasks === 0
      const doneFromMs =
        state.end && event.tasks === 0 ? (emptied ? atMs + lingerMs : state.doneFromMs) : null
      return { ...state, background: event.tasks, others: event.others ?? 0, doneFromMs }
    }
    case 'turn-end': {
      if (failed || (!state.accepted && isEmpty(event))) return state
      const waits = state.background > 0 && event.outcome.name === 'completed'
      return { ...state, end: event, doneFromMs: waits ? null : atMs }
    }
    default:
      return state
  }
}

/** The end of the work for the prompt; null if it is not done, also if the agent died while sub-agents were working. */
export function endOfTurn(
  events: readonly { body: EventBody }[],
  promptId: string,
): EventOf<'turn-end'> | null {
  const state = events.reduce((s, { body }) => followTurn(s, body, 0, { promptId, lingerMs: 0 }), NEW_TURN)
  return state.doneFromMs === null ? null : state.end
}

const isEmpty = ({ outcome, turns, text }: EventOf<'turn-end'>) =>
  outcome.name === 'completed' && turns === 0 && !text
