/** Conversations, their messages, and each agent's position in one. */
import type { ContentBlock, HistoryScope, MessageOrigin } from '../../contract/conversation.ts'
import type { ConversationId, MessageId, RunId, SessionId } from '../../contract/ids.ts'

export interface ConversationRecord {
  id: ConversationId
  title: string
  agent: string
  workDir: string
  instructions: string | null
  historyScope: HistoryScope
  turnCount: number
  /** Counts the changes to the messages. */
  revision: number
  createdAt: Date
  updatedAt: Date
}

export type NewConversation = Omit<ConversationRecord, 'turnCount' | 'revision' | 'updatedAt'>

export interface MessageRecord {
  id: MessageId
  conversationId: ConversationId
  turn: number
  role: 'user' | 'assistant'
  agent: string
  blocks: ContentBlock[]
  state: 'complete' | 'cancelled' | 'failed'
  revision: number
  runId: RunId | null
  origin: MessageOrigin
  createdAt: Date
  editedAt: Date | null
}

export interface PinRecord {
  conversationId: ConversationId
  agent: string
  epoch: number
  sessionId: SessionId | null
  sessionEpoch: number | null
  sinceTurn: number | null
  seenTurn: number | null
}

/** What an ended turn leaves in its conversation. */
export interface TurnEnding {
  conversationId: ConversationId
  turn: number
  agent: string
  runId: RunId
  answer: Pick<MessageRecord, 'id' | 'blocks' | 'state'> | null
  /** The run continues with another attempt: only what a pinned session has seen is recorded. */
  goesOn: boolean
  /** null: the session did not receive the turn, and the pin stays as it is. */
  pin: Pick<PinRecord, 'sessionId' | 'sessionEpoch'> | null
}
