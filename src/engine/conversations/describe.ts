/** The public descriptions of conversations and messages. */
import type { Conversation, ConversationDetail, Message } from '../../contract/conversation.ts'
import { clearedTurnOf } from '../../core/history/view.ts'
import type { ConversationRecord, MessageRecord, PinRecord } from '../../store/conversations/records.ts'

export function describeConversation(conversation: ConversationRecord): Conversation {
  const { createdAt, updatedAt, ...rest } = conversation
  return { ...rest, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
}

export function describeConversationDetail(
  conversation: ConversationRecord,
  pins: readonly PinRecord[],
  messages: readonly MessageRecord[],
): ConversationDetail {
  return {
    ...describeConversation(conversation),
    agents: pins.map(({ agent, epoch, sessionId, seenTurn }) => ({
      agent,
      epoch,
      session: sessionId,
      seenTurn,
      clearedTurn: clearedTurnOf(agent, messages),
    })),
    messages: messages.map(describeMessage),
  }
}

export function describeMessage({ revision: _, createdAt, editedAt, ...message }: MessageRecord): Message {
  return { ...message, createdAt: createdAt.toISOString(), editedAt: editedAt?.toISOString() ?? null }
}
