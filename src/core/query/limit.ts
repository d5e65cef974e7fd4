/**
 * Limits how much of a caller's history is kept. No model accepts more than this, so the oldest messages are left out;
 * a message in their place says how many.
 */
import type { HistoryBlock, HistoryMessage } from '../../contract/query.ts'

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
  while (from < messages.length && messages[from]?.content.every((block) => block.type === 'tool_result'))
    from++
  const text = `[${from} earlier ${from === 1 ? 'message is' : 'messages are'} left out: the history is too long]`
  return [{ role: 'user', content: [{ type: 'text', text }] }, ...messages.slice(from)]
}

const charsOf = (message: HistoryMessage | undefined) =>
  message?.content.reduce((sum, block) => sum + blockChars(block), 0) ?? 0

function blockChars({ text, tool_use, tool_result }: HistoryBlock): number {
  const output = tool_result?.content
  return (
    (text?.length ?? 0) +
    (tool_use ? (JSON.stringify(tool_use.input) ?? '').length : 0) +
    (typeof output === 'string' ? output.length : output == null ? 0 : JSON.stringify(output).length)
  )
}
