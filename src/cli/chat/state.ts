/** A chat under way: which conversation, and what the next turn is asked with. */
import type { Conversation, RetryTurn } from '../../contract/conversation.ts'
import type { AskDaemon } from '../daemon/connect.ts'

export interface Chat {
  ask: AskDaemon
  conversation: Conversation
  /** The conversation was made for this chat. */
  isNew: boolean
  /** Something was said or set. */
  isUsed: boolean
  agent: string | undefined
  model: string | undefined
  permissions: RetryTurn['permissions']
  maxTurns?: RetryTurn['maxTurns']
  freshNext: boolean
}

export function nextTurn({ agent, model, permissions, maxTurns, freshNext }: Chat): RetryTurn {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(freshNext ? { forceFreshSession: true } : {}),
  }
}
