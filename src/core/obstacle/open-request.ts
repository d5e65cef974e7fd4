/**
 * Whether an agent waits for the model: it has made a request, and nothing of an answer has come. An agent that is
 * silent for too long in that state is not at fault, the model is away; silent in any other state it hangs itself.
 *
 *   idle ──model-request──→ open ──model-call (the answer begins), turn-end──→ idle
 *
 * A `retry-wait` leaves the request open: the agent makes it again without saying so. While a tool runs, of a sub-agent
 * for instance, the silence may be the tool's: then the request is not held responsible for it.
 */
import type { EventBody, EventType } from '../../contract/events.ts'
import { formatSpan } from '../span.ts'
import type { WatchCause } from '../watchdog.ts'
import type { StopForApi } from './patience.ts'

export interface RequestState {
  isOpen: boolean
  /** The tool calls that have begun and not ended. */
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

/** A run that tries whether an obstacle is over holds up all others, so it does not wait for an answer for longer. */
const TRY_TIMEOUT_MS = 2 * 60_000

/** How long an agent whose request is unanswered may be silent. */
export const answerTimeoutMs = (idleTimeoutMs: number, shortOfPatience: boolean): number =>
  shortOfPatience ? Math.min(idleTimeoutMs, TRY_TIMEOUT_MS) : idleTimeoutMs

/** What an agent is stopped for that was found to be too long at something; null: for just that. */
export function blameModel(cause: WatchCause, state: RequestState, timeoutMs: number): StopForApi | null {
  return cause === 'silent' && isUnanswered(state)
    ? { cause: 'outage', message: `the model has not answered a request for ${formatSpan(timeoutMs)}` }
    : null
}
