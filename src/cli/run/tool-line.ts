/** A tool call on one line: its name and its main input. */
import { visible } from '../../contract/visible-text.ts'
import { firstLine } from '../terminal/terminal.ts'

/** Input fields that describe a call best, in order of preference. */
const MAIN_FIELDS = [
  'command',
  'file_path',
  'notebook_path',
  'path',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
]

export function toolLine(name: string, input: unknown, maxChars = 100): string {
  return firstLine(visible(`${name} ${mainInput(input, maxChars)}`.slice(0, maxChars * 4)), maxChars)
}

function mainInput(input: unknown, maxChars: number): string {
  if (typeof input !== 'object' || input === null) return ''
  const fields = input as Record<string, unknown>
  const main = MAIN_FIELDS.map((key) => fields[key]).find((value) => typeof value === 'string')
  if (typeof main === 'string') return main
  const asked: unknown[] = Array.isArray(fields.questions) ? fields.questions : []
  const questions = asked.map((item) => (item as { question?: unknown } | null)?.question)
  if (questions.length > 0 && questions.every((item) => typeof item === 'string')) return questions.join(' ')
  return Object.keys(fields).length === 0 ? '' : JSON.stringify(input).slice(0, maxChars * 4)
}

/** The beginning of the result of a tool: a text, or the first text among its blocks. */
export function contentLine(content: unknown, maxChars = 100): string {
  if (typeof content === 'string') return firstLine(content, maxChars)
  const blocks: unknown[] = Array.isArray(content) ? content : []
  const texts = blocks.map((block) => (block as { text?: unknown } | null)?.text)
  const text = texts.find((item): item is string => typeof item === 'string')
  return firstLine(text ?? JSON.stringify(content ?? ''), maxChars)
}
