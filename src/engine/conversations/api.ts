/** What the outside may ask of conversations. */
import type {
  Conversation,
  ConversationDetail,
  ConversationMove,
  CreateConversation,
  CreateTurn,
  Message,
  RetryTurn,
  UpdateConversation,
  UpdatedConversation,
} from '../../contract/conversation.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import type { ConversationId, MessageId } from '../../contract/ids.ts'
import type { Run } from '../../contract/run.ts'

export interface ConversationEngine {
  createConversation: (request: CreateConversation) => Promise<Conversation>
  listConversations: (query: ListQuery) => Promise<Page<Conversation>>
  getConversation: (id: ConversationId) => Promise<ConversationDetail>
  updateConversation: (id: ConversationId, change: UpdateConversation) => Promise<UpdatedConversation>
  /** What it would mean to move it there. */
  planMove: (id: ConversationId, workDir: string) => Promise<ConversationMove>
  /** Open runs of it are cancelled; settled ones stay as records. */
  deleteConversation: (id: ConversationId) => Promise<void>
  createTurn: (
    id: ConversationId,
    request: CreateTurn,
    idempotencyKey: string | null,
  ) => Promise<{ run: Run; created: boolean }>
  editMessage: (id: ConversationId, message: MessageId, text: string) => Promise<Message>
  /** Takes away the message and everything after it; runs that were to answer it are cancelled. */
  truncate: (id: ConversationId, message: MessageId) => Promise<{ removed: number }>
  /** Asks the question of that message's turn again, as if nothing had come after it. */
  retryFrom: (
    id: ConversationId,
    message: MessageId,
    request: RetryTurn,
    idempotencyKey: string | null,
  ) => Promise<{ run: Run; created: boolean }>
}
