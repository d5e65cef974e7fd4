/**
 * What Reprise must know about an agent's transcripts to copy, cut and rename sessions. Everything here only reads, or
 * is pure: the engine writes the copies.
 */

/** A point in a transcript. */
export interface CutPoint {
  /** The agent's own id of a message. */
  messageId: string
  /**
   * `turn`: after the turn that this message asks; a message that asks nothing is the last one of the part. `message`: right
   * after the message, wherever that is.
   */
  keep: 'turn' | 'message'
}

/** A transcript from its beginning up to a point between two records. */
export interface TranscriptPart {
  bytes: number
  /** The id of the session in its records; null: they name none. */
  agentSessionId: string | null
  /** The ids of the questions in it, oldest first. */
  questions: readonly string[]
  /** The newest message in it; null: it has none. */
  lastMessageId: string | null
  /** The cost of the session up to that point by the agent's own count, which continues in a copy; null: not known. */
  costUsd: number | null
  /** The context that the next call would start from; null: not known. */
  contextTokens: number | null
}

export interface SessionCopies {
  /**
   * Reads a transcript up to a point; null as the point: up to its last complete record. Returns null if the session
   * could not be resumed there: the message is missing, or the part would end on another branch.
   */
  readPart: (transcript: string, at: CutPoint | null) => Promise<TranscriptPart | null>
  /** The newest message that is completely written; null: there is none. Reads only the end of the file. */
  readPosition: (transcript: string) => Promise<string | null>
  /** Returns a function that makes a line of the session's files one of the session with the other id. */
  rename: (fromId: string, toId: string) => (line: string) => string
  /** The files in which lines name the session. */
  hasRecords: (path: string) => boolean
  /** Fields of a record by which the agent finds its way. They are not redacted. */
  structure: ReadonlySet<string>
}
