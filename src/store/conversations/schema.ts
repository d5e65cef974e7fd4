/** The tables of conversations. */
import type { ConversationId, MessageId, RunId, SessionId } from '../../contract/ids.ts'

export interface ConversationsTable {
  id: ConversationId
  title: string
  agent: string
  work_dir: string
  instructions: string | null
  history_scope: 'shared' | 'agent'
  turn_count: number
  /** Counts the changes to what has been said. An attempt that was prepared for another one must not start. */
  revision: number
  created_at: number
  updated_at: number
}

/** At most one question and one answer a turn. `run_id` of a question is the run that is to answer it. */
export interface MessagesTable {
  id: MessageId
  conversation_id: ConversationId
  turn: number
  role: 'user' | 'assistant'
  agent: string
  blocks: string
  state: 'complete' | 'cancelled' | 'failed'
  /** Counts the changes of the content. */
  revision: number
  run_id: RunId | null
  /** null: said through Reprise. See contract/conversation.ts. */
  origin: 'outside' | 'outside-branch' | null
  created_at: number
  edited_at: number | null
}

/** What was said in a session outside Reprise; see outside.ts. */
export interface OutsideKeyLocksTable {
  session_id: SessionId
  native_id: string
  prompt: string
  answer: string
  in_session: number
  said_at: number
}

/** A follow-up that was given to a process which had been kept waiting. It is noted before it is given. */
export interface GivenPromptsTable {
  session_id: SessionId
  message_id: string
}

/**
 * An agent's place in a conversation. `epoch` counts the changes to the history it was given; its session is of use
 * only while `session_epoch` is the same.
 */
export interface PinsTable {
  conversation_id: ConversationId
  agent: string
  epoch: number
  session_id: SessionId | null
  session_epoch: number | null
  /** The turns with which its session began, and up to which it has seen the conversation. */
  since_turn: number | null
  seen_turn: number | null
}

declare module '../base/schema.ts' {
  interface Tables {
    conversations: ConversationsTable
    messages: MessagesTable
    pins: PinsTable
    outside_turns: OutsideKeyLocksTable
    given_prompts: GivenPromptsTable
  }
}
