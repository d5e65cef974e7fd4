/**
 * Limits how much of a caller's history is kept. No model accepts more than this, so the oldest messages are left out;
 * a message in their place says how many.
 */
import type { ContentBlock } from '../../contract/conversation.ts'
import type { HistoryMessage } from '../../contract/query.ts'
import { resultText } from '../history/answer.ts'

const MAX_CHARS = 8_000_000

export function limitHistory(messages: readonly HistoryMessage[], maxChars = MAX_CHARS): HistoryMessage[] {
  let room = maxChars
  let from = messages.length
  for (; from > 0; from--) {
    room -= charsOf(messages[from - 1])
    // The newest message is always kept.
    if (room < 0 && from < messages.length) break
  }
  if (from === 0) return [...messages]
  // A tool result without its call cannot be understood.
  while (from < messages.length && messages[from]?.blocks.every(({ type }) => type === 'tool-result')) from++
  const text = `[${from} earlier ${from === 1 ? 'message is' : 'messages are'} left out: the history is too long]`
  return [{ role: 'user', blocks: [{ type: 'text', text }], at: null }, ...messages.slice(from)]
}

const charsOf = (message: HistoryMessage | undefined) =>
  message?.blocks.reduce((sum, block) => sum + blockChars(block), 0) ?? 0

function blockChars(block: ContentBlock): number {
  if (block.type === 'text') return block.text.length
  if (block.type === 'tool-use') return (JSON.stringify(block.input) ?? '').length
  return block.type === 'tool-result' ? resultText(block.content).length : 0
}
