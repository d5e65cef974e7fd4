/** The messages of a history in the form in which programs keep them, and in which `session.json` has them. */
import type { ContentBlock } from '../contract/conversation.ts'
import type { HistoryMessage, QuerySessionMetadata } from '../contract/query.ts'

export interface ToolUse {
  id: string
  name: string
  input: unknown
}

export interface ToolResult {
  tool_use_id: string
  content: unknown
  is_error?: boolean
}

export interface MessageBlock {
  type: 'text' | 'tool_use' | 'tool_result'
  text?: string
  tool_use?: ToolUse
  tool_result?: ToolResult
}

export interface Message {
  role: 'user' | 'assistant'
  content: MessageBlock[]
  timestamp?: string
}

/** The content of `session.json`. */
export interface PersistedSession {
  id: string
  metadata: QuerySessionMetadata
  messages: Message[]
}

export const toMessage = ({ role, blocks, at }: HistoryMessage): Message => ({
  role,
  content: blocks.flatMap(toBlock),
  ...(at === null ? {} : { timestamp: at }),
})

function toBlock(block: ContentBlock): MessageBlock[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }]
    case 'tool-use': {
      const { toolUseId: id, name, input } = block
      return [{ type: 'tool_use', tool_use: { id, name, input } }]
    }
    case 'tool-result': {
      const { toolUseId: tool_use_id, content, isError } = block
      const failed = isError ? { is_error: true } : {}
      return [{ type: 'tool_result', tool_result: { tool_use_id, content, ...failed } }]
    }
    default:
      return []
  }
}
