/** Converts the history of a query to turns, from which the text for a new session is composed. */
import type { ContentBlock } from '../../contract/conversation.ts'
import type { HistoryBlock, HistoryMessage } from '../../contract/query.ts'
import { toParts } from '../history/render.ts'
import type { PastTurn } from '../prompt/past.ts'

/**
 * A message of the user with a text begins a turn. Tool results belong to the turn of their call, although they are in
 * messages of the user too.
 */
export function pastTurnsOf(messages: readonly HistoryMessage[]): PastTurn[] {
  const turns: { prompt: string; blocks: ContentBlock[] }[] = []
  const current = () => {
    const last = turns.at(-1)
    if (last) return last
    const first = { prompt: '', blocks: [] }
    turns.push(first)
    return first
  }
  for (const { role, content } of messages) {
    const blocks = content.flatMap(toBlock)
    const said = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    if (role === 'user' && said.length > 0) turns.push({ prompt: said.join('\n'), blocks: [] })
    current().blocks.push(...blocks.filter((block) => role === 'assistant' || block.type !== 'text'))
  }
  return turns.map(({ prompt, blocks }, index) => ({
    turn: index + 1,
    prompt,
    answer: blocks.length > 0 ? toParts(blocks) : null,
  }))
}

function toBlock({ type, text, tool_use, tool_result }: HistoryBlock): ContentBlock[] {
  if (type === 'text') return text === undefined || text === '' ? [] : [{ type: 'text', text }]
  if (type === 'tool_use' && tool_use) {
    return [{ type: 'tool-use', toolUseId: tool_use.id, name: tool_use.name, input: tool_use.input }]
  }
  if (type !== 'tool_result' || !tool_result) return []
  const { tool_use_id: toolUseId, content = null, is_error: isError = false } = tool_result
  return [{ type: 'tool-result', toolUseId, isError, content }]
}
