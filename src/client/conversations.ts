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
} from '../contract/conversation.ts'
import type { Page } from '../contract/http.ts'
import type { Run } from '../contract/run.ts'
import { type Call, type KeyOptions, keyed, type PageOptions } from './request.ts'

export interface ConversationCalls {
  createConversation: (request: CreateConversation) => Promise<Conversation>
  listConversations: (options?: PageOptions) => Promise<Page<Conversation>>
  getConversation: (id: string) => Promise<ConversationDetail>
  updateConversation: (id: string, change: UpdateConversation) => Promise<UpdatedConversation>
  /** What it would mean to move it to that directory; nothing is changed. */
  planMove: (id: string, workDir: string) => Promise<ConversationMove>
  deleteConversation: (id: string) => Promise<void>
  /** The run that answers; follow it with `events`. */
  createTurn: (id: string, request: CreateTurn, options?: KeyOptions) => Promise<Run>
  editMessage: (id: string, messageId: string, text: string) => Promise<Message>
  /** Takes away the message and everything after it. */
  truncate: (id: string, messageId: string) => Promise<{ removed: number }>
  /** Asks the question of that message's turn again, as if nothing had come after it. */
  retryFrom: (id: string, messageId: string, request?: RetryTurn, options?: KeyOptions) => Promise<Run>
}

export interface Calls {
  /** For an answer that is JSON. */
  call: <T>(request: Call) => Promise<T>
  /** For one without a body. */
  tell: (request: Call) => Promise<void>
}

export function conversationCalls({ call, tell }: Calls): ConversationCalls {
  const all = '/api/conversations'
  const one = (id: string, rest = '') => `${all}/${encodeURIComponent(id)}${rest}`
  const message = (id: string, mid: string, rest = '') =>
    one(id, `/messages/${encodeURIComponent(mid)}${rest}`)
  const turn = async (request: Call, options?: KeyOptions): Promise<Run> =>
    (await call<{ run: Run }>({ ...request, method: 'POST', ...keyed(options) })).run

  return {
    createConversation: (body) => call({ method: 'POST', path: all, body }),
    listConversations: (options) => call({ path: all, query: { ...options } }),
    getConversation: (id) => call({ path: one(id) }),
    updateConversation: (id, body) => call({ method: 'PATCH', path: one(id), body }),
    planMove: (id, workDir) => call({ path: one(id, '/move'), query: { workDir } }),
    deleteConversation: (id) => tell({ method: 'DELETE', path: one(id) }),
    createTurn: (id, body, options) => turn({ path: one(id, '/turns'), body }, options),
    editMessage: (id, mid, text) => call({ method: 'PATCH', path: message(id, mid), body: { text } }),
    truncate: (id, mid) => call({ method: 'DELETE', path: message(id, mid) }),
    retryFrom: (id, mid, body = {}, options) => turn({ path: message(id, mid, '/retry'), body }, options),
  }
}
