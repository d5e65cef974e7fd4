/** Converts rows of conversations to records. */
import { date } from '../base/columns.ts'
import type { ConversationRecord, MessageRecord, PinRecord } from './records.ts'
import type { ConversationsTable, MessagesTable, PinsTable } from './schema.ts'

export function toConversation(row: ConversationsTable): ConversationRecord {
  return {
    id: row.id,
    title: row.title,
    agent: row.agent,
    workDir: row.work_dir,
    instructions: row.instructions,
    historyScope: row.history_scope,
    turnCount: row.turn_count,
    revision: row.revision,
    createdAt: new Date(Number(row.created_at)),
    updatedAt: new Date(Number(row.updated_at)),
  }
}

export function toMessage(row: MessagesTable): MessageRecord {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    turn: row.turn,
    role: row.role,
    agent: row.agent,
    blocks: JSON.parse(row.blocks),
    state: row.state,
    revision: row.revision,
    runId: row.run_id,
    origin: row.origin ?? 'reprise',
    createdAt: new Date(Number(row.created_at)),
    editedAt: date(row.edited_at),
  }
}

export function toPin(row: PinsTable): PinRecord {
  return {
    conversationId: row.conversation_id,
    agent: row.agent,
    epoch: row.epoch,
    sessionId: row.session_id,
    sessionEpoch: row.session_epoch,
    sinceTurn: row.since_turn,
    seenTurn: row.seen_turn,
  }
}
