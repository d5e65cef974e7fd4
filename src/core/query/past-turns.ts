/** Converts the history of a query to turns, from which the text for a new session is composed. */
import type { ContentBlock } from '../../contract/conversation.ts'
import type { HistoryMessage } from '../../contract/query.ts'
import { toParts } from '../history/render.ts'
import type { PastTurn } from '../prompt/past.ts'

/**
 * A message of the user with a text begins a turn. Tool results belong to the turn of their call, although they are in
 * messages of the user too.
 */
export function pastTurnsOf(messages: readonly HistoryMessage[]): PastTurn[] {
  const turns: { prompt: string; blocks: ContentBlock[] }[] = []
  for (const { role, blocks } of messages) {
    const said = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    const begins = role === 'user' && said.length > 0
    if (begins || turns.length === 0) turns.push({ prompt: begins ? said.join('\n') : '', blocks: [] })
    const done = role === 'assistant' ? blocks : blocks.filter(({ type }) => type !== 'text')
    turns.at(-1)?.blocks.push(...done)
  }
  return turns.map(({ prompt, blocks }, index) => ({
    turn: index + 1,
    prompt,
    answer: blocks.length > 0 ? toParts(blocks) : null,
  }))
}
