/**
 * Tracks whether an agent waits for the model: it has sent a request, and no part of the answer has arrived. If an
 * agent is silent for too long in that state, the cause is an outage of the model; in any other state the agent hangs.
 *
 *   idle ──model-request──→ open ──model-call (the answer begins), turn-end──→ idle
 *
 * A `retry-wait` leaves the request open, because the agent repeats it without another event. While a tool runs (of a
 * sub-agent, for instance), the tool may be the reason for the silence, so the request does not count as unanswered.
 */
import type { EventBody, EventType } from '../../contract/events.ts'
import { formatSpan } from '../span.ts'
import type { WatchCause } from '../watchdog.ts'
import type { StopForApi } from './patience.ts'

export interface RequestState {
  isOpen: boolean
  /** The tool calls that have started and not ended. */
  tools: ReadonlySet<string>
}

export const NO_REQUEST: RequestState = { isOpen: false, tools: new Set() }

/** The events that `followRequest` reads. */
export const REQUEST_EVENTS: readonly EventType[] = [
  'model-request',
  'model-call',
  'tool-start',
  'tool-end',
  'turn-end',
]

export function followRequest(state: RequestState, event: EventBody): RequestState {
  switch (event.type) {
    case 'model-request':
      return { ...state, isOpen: true }
    case 'model-call':
      return { ...state, isOpen: false }
    case 'tool-start':
      return { ...state, tools: new Set([...state.tools, event.toolUseId]) }
    case 'tool-end':
      return { ...state, tools: new Set([...state.tools].filter((id) => id !== event.toolUseId)) }
    case 'turn-end':
      return NO_REQUEST
    default:
      return state
  }
}

export const isUnanswered = ({ isOpen, tools }: RequestState): boolean => isOpen && tools.size === 0

/** A run that probes an obstacle holds up all others, so it waits for an answer for at most this time. */
const TRY_TIMEOUT_MS = 2 * 60_000

/** How long an agent whose request is unanswered may be silent. */
export const answerTimeoutMs = (idleTimeoutMs: number, fewRetries: boolean): number =>
  fewRetries ? Math.min(idleTimeoutMs, TRY_TIMEOUT_MS) : idleTimeoutMs

/**
 * Replaces the watchdog's cause by an outage if the agent was silent because the model did not answer; null: the cause
 * stays.
 */
export function blameModel(cause: WatchCause, state: RequestState, timeoutMs: number): StopForApi | null {
  return cause === 'silent' && isUnanswered(state)
    ? { cause: 'outage', message: `the model has not answered a request for ${formatSpan(timeoutMs)}` }
    : null
}
