/** The public interface of conversations. */
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
  WarmTurn,
} from '../../contract/conversation.ts'
import type { ListQuery, ListSort, Page } from '../../contract/http.ts'
import type { ConversationId, MessageId } from '../../contract/ids.ts'
import type { Run } from '../../contract/run.ts'
import type { ForkConversation } from '../../contract/session-transfer.ts'

export interface ConversationEngine {
  createConversation: (request: CreateConversation) => Promise<Conversation>
  listConversations: (
    query: ListQuery & { q?: string | undefined; sort?: ListSort | undefined },
  ) => Promise<Page<Conversation>>
  getConversation: (id: ConversationId) => Promise<ConversationDetail>
  updateConversation: (id: ConversationId, change: UpdateConversation) => Promise<UpdatedConversation>
  /** Describes what a move to that directory would mean for the sessions. Changes nothing. */
  planMove: (id: ConversationId, workDir: string) => Promise<ConversationMove>
  /** Starts the agent ahead of a turn, if the turn would resume a session. */
  warmConversation: (id: ConversationId, request: RetryTurn) => Promise<WarmTurn>
  /** Cancels the open runs of the conversation; settled runs stay as records. */
  deleteConversation: (id: ConversationId) => Promise<void>
  createTurn: (
    id: ConversationId,
    request: CreateTurn,
    idempotencyKey: string | null,
  ) => Promise<{ run: Run; created: boolean }>
  /** Copies the messages up to a turn, and the agents' sessions where they can be cut there. */
  forkConversation: (id: ConversationId, request: ForkConversation) => Promise<ConversationDetail>
  editMessage: (id: ConversationId, message: MessageId, text: string) => Promise<Message>
  /** Removes the message and everything after it, and cancels runs that were to answer it. */
  truncate: (id: ConversationId, message: MessageId) => Promise<{ removed: number }>
  /** Asks the question of that message's turn again and drops everything after it. */
  retryFrom: (
    id: ConversationId,
    message: MessageId,
    request: RetryTurn,
    idempotencyKey: string | null,
  ) => Promise<{ run: Run; created: boolean }>
}
