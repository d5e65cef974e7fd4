/**
 * Reads the history that a caller gives. Programs keep it in different forms, so three are accepted: the messages of
 * `ConversationHistory`, those of the vendor's API (`{role, content}`), and those of the Agent SDK (`{type, message}`),
 * of which only `user` and `assistant` are part of the conversation. A block of an unknown kind, such as a picture, is
 * replaced by a note.
 */
import type { ContentBlock } from '../contract/conversation.ts'
import { RepriseError } from '../contract/errors.ts'
import type { HistoryMessage } from '../contract/query.ts'
import type { Message } from './history.ts'

export type HistoryInput =
  | Message
  | { role: 'user' | 'assistant'; content: string | readonly { type: string }[]; timestamp?: string }
  | { type: string; [field: string]: unknown }

type Json = Record<string, unknown>

export function readHistory(given: readonly unknown[]): HistoryMessage[] {
  return given.flatMap((item, index) => readMessage(item, `conversationHistory[${index}]`))
}

function readMessage(item: unknown, where: string): HistoryMessage[] {
  if (!isRecord(item)) throw wrong(where, 'a message', item)
  if (item.role === undefined && typeof item.type === 'string') {
    if (item.type !== 'user' && item.type !== 'assistant') return []
    if (!isRecord(item.message))
      throw wrong(`${where}.message`, 'a message with role and content', item.message)
    // The words of a sub-agent are not part of the conversation.
    if (typeof item.parent_tool_use_id === 'string') return []
    const { timestamp = item.timestamp } = item.message
    return readMessage({ ...item.message, role: item.type, timestamp }, `${where}.message`)
  }
  const { role, content, timestamp } = item
  if (role !== 'user' && role !== 'assistant') throw wrong(`${where}.role`, '"user" or "assistant"', role)
  if (timestamp !== undefined && typeof timestamp !== 'string') {
    throw wrong(`${where}.timestamp`, 'a date as text', timestamp)
  }
  return [{ role, blocks: readContent(content, `${where}.content`), at: timestamp ?? null }]
}

function readContent(content: unknown, where: string): ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw wrong(where, 'a text or a list of blocks', content)
  return content.flatMap((block, index) => readBlock(block, `${where}[${index}]`) ?? [])
}

/** null: a block that is no use to another session. */
function readBlock(block: unknown, where: string): ContentBlock | null {
  if (!isRecord(block) || typeof block.type !== 'string') throw wrong(where, 'a block with a type', block)
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') throw wrong(`${where}.text`, 'a text', block.text)
      return { type: 'text', text: block.text }
    case 'tool_use': {
      const { id, name, input } = isRecord(block.tool_use) ? block.tool_use : block
      if (typeof id !== 'string') throw wrong(`${where}.id`, 'the id of the tool call', id)
      if (typeof name !== 'string') throw wrong(`${where}.name`, 'the name of a tool', name)
      return { type: 'tool-use', toolUseId: id, name, input }
    }
    case 'tool_result': {
      const result = isRecord(block.tool_result) ? block.tool_result : block
      const { tool_use_id: toolUseId, content = null, is_error: isError } = result
      if (typeof toolUseId !== 'string') {
        throw wrong(`${where}.tool_use_id`, 'the id of a tool call', toolUseId)
      }
      return { type: 'tool-result', toolUseId, isError: isError === true, content }
    }
    case 'thinking':
    case 'redacted_thinking':
      return null
    default:
      return { type: 'text', text: `[a block of the type ${block.type} is left out here]` }
  }
}

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function wrong(where: string, expected: string, got: unknown): RepriseError {
  const shown = JSON.stringify(got) ?? String(got)
  return new RepriseError('bad-request', `${where}: expected ${expected}, got ${shown.slice(0, 80)}`, {
    hint: 'Pass the messages of a ConversationHistory, of the vendor’s API or of the Agent SDK.',
  })
}
