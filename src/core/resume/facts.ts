import type { TranscriptState } from '../../contract/session.ts'
import type { Place } from './place.ts'
import type { RuntimeFacts } from './runtime.ts'

/** What the resume decision is made from. Gathered by the engine at one moment, before the session is leased. */
export interface ResumeFacts extends Place {
  /** The agent that is to run now, and its executable. */
  agent: string
  runtime: RuntimeFacts
  canResume: boolean
  forceFresh: boolean
  /** The epoch of the history this agent is to be given now. */
  epoch: number
  /** How often this run has resumed already. A new turn of a long conversation starts at zero. */
  resumesUsed: number
  /** The session that would be resumed, if any is known. */
  pin: Pin | null
  limits: ResumeLimits
  /** What there is to carry into a fresh session. */
  past: Past
}

export interface Pin extends Place {
  agentSessionId: string
  agent: string
  /** What wrote it last; null if that was not recorded. */
  runtime: RuntimeFacts | null
  epoch: number
  lastUsedAt: Date
  /** Turns the agent has recorded in it; a session nobody has spoken in has nothing to resume. */
  turns: number
  /** Why the session must not be resumed again, if so. `refused`: the agent itself said no. */
  poison: { refused: boolean; message: string } | null
  contextTokens: number | null
  contextWindow: number | null
  /** It overflowed and making room did not help, whatever the figures say. */
  full: boolean
  transcript: TranscriptState
  holder: Holder | null
}

/** Someone who writes the session now: another of our runs, or a process of the agent that is not ours. */
export type Holder = { kind: 'lease'; runId: string } | { kind: 'process'; pid: number }

export interface ResumeLimits {
  maxAgeMs: number
  maxResumes: number
  /** Share of the context window, 0–1, above which a session is too full to go on. */
  contextThreshold: number
}

export interface Past {
  /** Earlier turns of the same conversation or session exist. */
  turns: boolean
  /** Of a conversation: another agent has taken part in it. */
  otherAgent?: boolean
  /** An earlier attempt at this very run did something: its work must be described, not repeated. */
  unfinishedWork: boolean
}
