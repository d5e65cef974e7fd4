/** Messages as text for a model that was not there: who said what, what was done, questions with their answers. */
import type { ContentBlock } from '../../contract/conversation.ts'
import type { PastTurn } from '../prompt/compose.ts'
import type { HistoryMessage } from './view.ts'

const INPUT_CHARS = 300
const RESULT_CHARS = 1000

/** One element a turn. An answer without its question (the view may begin there) is a turn of its own. */
export function toPastTurns(messages: readonly HistoryMessage[]): PastTurn[] {
  const turns = new Map<number, PastTurn>()
  for (const message of messages) {
    const turn = turns.get(message.turn) ?? { prompt: '', answer: null }
    if (message.role === 'user') turn.prompt = renderBlocks(message.blocks)
    else {
      turn.answer = renderBlocks(message.blocks)
      turn.agent = message.agent
      if (message.state !== 'complete') turn.ending = `${message.state} here`
    }
    if (message.origin && message.origin !== 'reprise') turn.origin = message.origin
    turns.set(message.turn, turn)
  }
  return [...turns.values()]
}

export function renderBlocks(blocks: readonly ContentBlock[]): string {
  const results = new Map(
    blocks.flatMap((b) => (b.type === 'tool-result' ? [[b.toolUseId, b] as const] : [])),
  )
  return blocks
    .flatMap((block) => {
      if (block.type === 'text') return [block.text]
      return block.type === 'tool-use' ? [renderTool(block, results.get(block.toolUseId))] : []
    })
    .join('\n')
}

type ToolUse = Extract<ContentBlock, { type: 'tool-use' }>
type ToolOutcome = Extract<ContentBlock, { type: 'tool-result' }>

function renderTool({ name, input }: ToolUse, result: ToolOutcome | undefined): string {
  const questions = name === 'AskUserQuestion' ? questionsOf(input) : ''
  if (questions) {
    return `[asked: ${questions} — ${result && !result.isError ? `answered: ${clip(textOf(result.content), RESULT_CHARS)}` : 'not answered, and no longer open'}]`
  }
  const outcome = result
    ? `${result.isError ? 'failed: ' : ''}${clip(textOf(result.content), RESULT_CHARS)}`
    : 'outcome unknown'
  return `[used ${name} ${clip(JSON.stringify(input) ?? '', INPUT_CHARS)} → ${outcome}]`
}

function questionsOf(input: unknown): string {
  const { questions } = (input ?? {}) as { questions?: unknown }
  if (!Array.isArray(questions)) return ''
  return questions
    .map((item) => (item as { question?: unknown }).question)
    .filter((question) => typeof question === 'string')
    .join(' / ')
}

/** A tool's result is a text, or a list of blocks of which some are texts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content == null ? '' : JSON.stringify(content)
  return content
    .map((block) => {
      const { type, text } = block as { type?: unknown; text?: unknown }
      return typeof text === 'string' ? text : `(${String(type)})`
    })
    .join('\n')
}

function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`
}
