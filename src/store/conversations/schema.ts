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
  /** Counts the changes to the messages. An attempt that was prepared for another revision must not start. */
  revision: number
  created_at: number
  updated_at: number
}

/** Each turn has at most one question and one answer. `run_id` of a question is the run that is to answer it. */
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
  /** null: sent through Reprise. See contract/conversation.ts. */
  origin: 'outside' | 'outside-branch' | null
  created_at: number
  edited_at: number | null
}

/** Messages that were exchanged in a session outside Reprise; see outside.ts. */
export interface OutsideTurnsTable {
  session_id: SessionId
  native_id: string
  prompt: string
  answer: string
  in_session: number
  said_at: number
  /** 1: copied from the session's origin, and not said outside Reprise. */
  copied: number
}

/** A follow-up prompt that was given to a kept process. It is recorded before it is given. */
export interface GivenPromptsTable {
  session_id: SessionId
  message_id: string
}

/** Where a session comes from that began as a copy; see copies.ts. */
export interface SessionOriginsTable {
  session_id: SessionId
  kind: 'fork' | 'import' | 'rewind'
  from_session_id: SessionId | null
  from_agent_session_id: string
  message_id: string | null
  cost_usd: number | null
  created_at: number
}

/**
 * An agent's position in a conversation. `epoch` counts the changes to the history that it was given; its session can
 * be resumed only while `session_epoch` is equal to it.
 */
export interface PinsTable {
  conversation_id: ConversationId
  agent: string
  epoch: number
  session_id: SessionId | null
  session_epoch: number | null
  /** The turn with which its session began, and the last turn that the session has seen. */
  since_turn: number | null
  seen_turn: number | null
}

declare module '../base/schema.ts' {
  interface Tables {
    conversations: ConversationsTable
    messages: MessagesTable
    pins: PinsTable
    outside_turns: OutsideTurnsTable
    given_prompts: GivenPromptsTable
    session_origins: SessionOriginsTable
  }
}
