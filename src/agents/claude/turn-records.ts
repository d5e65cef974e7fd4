/** Parts of a transcript's records: the text of a question, the blocks of an answer, the time. */
import type { ContentBlock } from '../../contract/conversation.ts'
import { type Clipped, toolUseBlock } from '../../core/history/answer.ts'
import { describeClaudeTool } from './describe-tool.ts'
import { isRecord, type Json } from './wire.ts'

/** `task_notification`, `scheduled` and similar turns are started by the CLI itself. */
const ASKED_BY_SOMEBODY: ReadonlySet<unknown> = new Set(['sdk', 'human'])
const MAX_TEXT_CHARS = 1_000_000

export function timeOf({ timestamp }: Json): Date | null {
  const at = typeof timestamp === 'string' ? new Date(timestamp) : null
  return at && !Number.isNaN(at.getTime()) ? at : null
}

/** Whether the record is a question of a person or a program, as far as the record itself tells. */
export const asksSomething = (record: Json): boolean =>
  record.type === 'user' &&
  record.isSidechain !== true &&
  isRecord(record.message) &&
  questionText(record) !== null

/** null: the record is not a question. */
export function questionText(record: Json): string | null {
  if (record.isMeta === true || record.isCompactSummary === true) return null
  if (typeof record.turnOrigin === 'string' && !ASKED_BY_SOMEBODY.has(record.turnOrigin)) return null
  const { content } = record.message as Json
  const text = typeof content === 'string' ? content : Array.isArray(content) ? textOf(content) : ''
  const command = /<command-name>(.*?)<\/command-name>/s.exec(text)?.[1]
  if (command !== undefined) {
    // A command that was sent to the model is marked; one that the CLI executed itself did not reach the model.
    if (typeof record.turnOrigin !== 'string') return null
    return `${command} ${/<command-args>(.*?)<\/command-args>/s.exec(text)?.[1] ?? ''}`.trim()
  }
  const isNotice = text === '' || /^(<[a-z-]+>|\[Request interrupted)/.test(text)
  return isNotice && typeof record.turnOrigin !== 'string' ? null : text
}

/** Content that includes a tool result was written by the CLI. */
function textOf(content: readonly unknown[]): string {
  const blocks = content.filter(isRecord)
  if (blocks.some(({ type }) => type === 'tool_result')) return ''
  return blocks.map(({ type, text }) => (typeof text === 'string' ? text : `(${String(type)})`)).join('\n')
}

export function readBlock(block: Json, clip: (content: unknown) => Clipped): ContentBlock | null {
  if (block.type === 'text' && typeof block.text === 'string')
    return { type: 'text', text: cutText(block.text) }
  if (block.type === 'tool_use' && typeof block.id === 'string') {
    const [name, input] = [String(block.name), block.input ?? null]
    return toolUseBlock({ toolUseId: block.id, name, input, ...describeClaudeTool(name, input) })
  }
  if (block.type === 'tool_result' && typeof block.tool_use_id === 'string') {
    return {
      type: 'tool-result',
      toolUseId: block.tool_use_id,
      isError: block.is_error === true,
      ...clip(block.content ?? null),
    }
  }
  return null
}

export const cutText = (text: string) =>
  text.length <= MAX_TEXT_CHARS
    ? text
    : `${text.slice(0, MAX_TEXT_CHARS)}… (${text.length - MAX_TEXT_CHARS} more characters)`
