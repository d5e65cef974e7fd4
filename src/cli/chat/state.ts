/** The state of a chat: its conversation, and the settings of the next turn. */
import type { Conversation, RetryTurn } from '../../contract/conversation.ts'
import type { AskDaemon } from '../daemon/connect.ts'

export interface Chat {
  ask: AskDaemon
  conversation: Conversation
  /** The conversation was created for this chat. */
  isNew: boolean
  /** A message was sent or a setting was changed. */
  isUsed: boolean
  agent: string | undefined
  model: string | undefined
  permissions: RetryTurn['permissions']
  sandbox: RetryTurn['sandbox']
  maxTurns?: RetryTurn['maxTurns']
  freshNext: boolean
}

export function nextTurn({ agent, model, permissions, sandbox, maxTurns, freshNext }: Chat): RetryTurn {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(freshNext ? { forceFreshSession: true } : {}),
  }
}
