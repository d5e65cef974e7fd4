/** The history of a query, and what is known about its session, in neutral terms. */
import type { ContentBlock } from './conversation.ts'
import type { SessionLifecycle } from './session.ts'

/** Tool results are in messages of the user. */
export interface HistoryMessage {
  role: 'user' | 'assistant'
  blocks: readonly ContentBlock[]
  /** ISO 8601; null: not known. */
  at: string | null
}

export interface QuerySessionMetadata {
  id: string
  model: string
  cwd: string
  createdAt: string
  lastMessageAt: string
  messageCount: number
  turnCount: number
  totalInputTokens: number
  totalOutputTokens: number
  status: SessionLifecycle
  lastStopReason?: string
}

export interface QuerySession {
  metadata: QuerySessionMetadata
  messages: HistoryMessage[]
}

/** A tool result that a reconstructed context does not contain, and why. */
export interface DroppedResult {
  toolUseId: string
  tool: string
  path?: string
  reason: string
}
