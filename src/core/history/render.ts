/**
 * Converts messages to parts of a prompt for a session without them: who said what, tool calls, questions and answers.
 */
import type { ContentBlock } from '../../contract/conversation.ts'
import { type PastPart, type PastTurn, partsText } from '../prompt/past.ts'
import { storedResult } from './answer.ts'
import type { HistoryMessage } from './view.ts'

/**
 * Returns one element per turn. An answer without its question (a view may begin with one) is a turn without a prompt.
 */
export function toPastTurns(messages: readonly HistoryMessage[]): PastTurn[] {
  const turns = new Map<number, PastTurn>()
  for (const message of messages) {
    const turn = turns.get(message.turn) ?? { turn: message.turn, prompt: '', answer: null }
    if (message.role === 'user') turn.prompt = renderBlocks(message.blocks)
    else {
      turn.answer = toParts(message.blocks)
      turn.agent = message.agent
      if (message.state !== 'complete') turn.ending = `${message.state} here`
    }
    if (message.origin && message.origin !== 'reprise') turn.origin = message.origin
    turns.set(message.turn, turn)
  }
  return [...turns.values()]
}

export const renderBlocks = (blocks: readonly ContentBlock[]) => partsText(toParts(blocks))

export function toParts(blocks: readonly ContentBlock[]): PastPart[] {
  const results = new Map(
    blocks.flatMap((b) => (b.type === 'tool-result' ? [[b.toolUseId, b] as const] : [])),
  )
  return blocks.flatMap((block): PastPart[] => {
    if (block.type === 'text') return [{ kind: 'text', text: block.text }]
    return block.type === 'tool-use' ? [toolPart(block, results.get(block.toolUseId))] : []
  })
}

type ToolUse = Extract<ContentBlock, { type: 'tool-use' }>
type ToolOutcome = Extract<ContentBlock, { type: 'tool-result' }>

function toolPart({ name, input, kind, questions }: ToolUse, result: ToolOutcome | undefined): PastPart {
  const { text, missing } = result ? storedResult(result) : { text: '', missing: 0 }
  const asked = kind === undefined ? askedIn(input) : (questions ?? [])
  if (asked.length > 0) {
    const answer = result && !result.isError ? `answered: ${text}` : 'not answered, and no longer open'
    return { kind: 'text', text: `[asked: ${asked.join(' / ')} — ${answer}]` }
  }
  return {
    kind: 'tool',
    name,
    input: JSON.stringify(input) ?? '',
    ending: result ? (result.isError ? 'failed' : '') : 'outcome unknown',
    output: text,
    missing,
  }
}

/** The questions in a tool's input, for messages that an earlier version stored without a tool description. */
function askedIn(input: unknown): string[] {
  const { questions } = (input ?? {}) as { questions?: unknown }
  if (!Array.isArray(questions)) return []
  return questions
    .map((item) => (item as { question?: unknown } | null)?.question)
    .filter((question) => typeof question === 'string')
}
