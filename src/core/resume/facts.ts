import type { TranscriptState } from '../../contract/session.ts'
import type { Place } from './place.ts'
import type { RuntimeFacts } from './runtime.ts'

/** The facts for the resume decision. The engine gathers them at one moment, before the session is leased. */
export interface ResumeFacts extends Place {
  /** The agent that will run. */
  agent: string
  runtime: RuntimeFacts
  canResume: boolean
  forceFresh: boolean
  /** The present epoch of the history for this agent. */
  epoch: number
  /** How many interruptions of this run were counted. A new turn of a long conversation starts at zero. */
  resumesUsed: number
  /** The session that would be resumed, if any is known. */
  pin: Pin | null
  limits: ResumeLimits
  /** Which parts of the past exist and can be carried into a new session. */
  past: Past
}

export interface Pin extends Place {
  agentSessionId: string
  agent: string
  /** The runtime that wrote to the session last; null if that was not recorded. */
  runtime: RuntimeFacts | null
  epoch: number
  lastUsedAt: Date
  /** How many turns the agent has recorded in the session. A session without turns cannot be resumed. */
  turns: number
  /** Why the session must not be resumed again; null: it may be. `refused`: the agent refused to resume it. */
  poison: { refused: boolean; message: string } | null
  contextTokens: number | null
  contextWindow: number | null
  /** The session overflowed although it was compacted; the token counts do not matter then. */
  full: boolean
  transcript: TranscriptState
  holder: Holder | null
}

/** Another writer of the session: a run of Reprise, or a process of the agent that Reprise did not start. */
export type Holder = { kind: 'lease'; runId: string } | { kind: 'process'; pid: number }

export interface ResumeLimits {
  maxAgeMs: number
  maxResumes: number
  /** The share of the context window, 0–1, above which a session is too full to continue. */
  contextThreshold: number
}

export interface Past {
  /** Earlier turns of the same conversation or session exist. */
  turns: boolean
  /** Another agent has taken part in the conversation. */
  otherAgent?: boolean
  /** An earlier attempt at this run did some work, which must be described so that it is not repeated. */
  unfinishedWork: boolean
}
