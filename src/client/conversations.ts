/** The calls about conversations. */
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
} from '../contract/conversation.ts'
import type { ListSort, Page } from '../contract/http.ts'
import type { TurnPlan } from '../contract/overview.ts'
import type { Run } from '../contract/run.ts'
import { type KeyOptions, keyed, type PageOptions, type Request } from './request.ts'

export interface ConversationCalls {
  createConversation: (request: CreateConversation) => Promise<Conversation>
  listConversations: (
    options?: PageOptions & { q?: string | undefined; sort?: ListSort | undefined },
  ) => Promise<Page<Conversation>>
  getConversation: (id: string) => Promise<ConversationDetail>
  updateConversation: (id: string, change: UpdateConversation) => Promise<UpdatedConversation>
  /** Describes the effect of a move to that directory without changing anything. */
  planMove: (id: string, workDir: string) => Promise<ConversationMove>
  /** Describes what would happen if a message were sent now. Changes nothing. */
  planTurn: (
    id: string,
    request?: { agent?: string | undefined; forceFreshSession?: boolean },
  ) => Promise<TurnPlan>
  /** Starts the agent ahead of a turn that is about to be sent. */
  warmConversation: (id: string, request?: RetryTurn) => Promise<WarmTurn>
  deleteConversation: (id: string) => Promise<void>
  /** Returns the run that answers; follow it with `events`. */
  createTurn: (id: string, request: CreateTurn, options?: KeyOptions) => Promise<Run>
  editMessage: (id: string, messageId: string, text: string) => Promise<Message>
  /** Removes the message and everything after it. */
  truncate: (id: string, messageId: string) => Promise<{ removed: number }>
  /** Asks the question of that message's turn again, as if nothing had come after it. */
  retryFrom: (id: string, messageId: string, request?: RetryTurn, options?: KeyOptions) => Promise<Run>
}

export function conversationCalls(request: Request): ConversationCalls {
  return {
    createConversation: (body) => request('createConversation', { body }),
    listConversations: (query) => request('listConversations', { query }),
    getConversation: (id) => request('getConversation', { params: { id } }),
    updateConversation: (id, body) => request('updateConversation', { params: { id }, body }),
    planMove: (id, workDir) => request('planMove', { params: { id }, query: { workDir } }),
    planTurn: (id, { agent, forceFreshSession = false } = {}) =>
      request('planTurn', {
        params: { id },
        query: { agent, ...(forceFreshSession ? { forceFreshSession: 'true' } : {}) },
      }),
    warmConversation: (id, body = {}) => request('warmConversation', { params: { id }, body }),
    deleteConversation: (id) => request('deleteConversation', { params: { id } }),
    createTurn: async (id, body, options) =>
      (await request('createTurn', { params: { id }, body, ...keyed(options) })).run,
    editMessage: (id, mid, text) => request('editMessage', { params: { id, mid }, body: { text } }),
    truncate: (id, mid) => request('truncateConversation', { params: { id, mid } }),
    retryFrom: async (id, mid, body = {}, options) =>
      (await request('retryTurn', { params: { id, mid }, body, ...keyed(options) })).run,
  }
}
