/**
 * Composes the answer of a run as content blocks from its events: complete texts and tool calls in order and, if the
 * run was cut off in the middle of a text, the part that was streamed. Output of sub-agents is left out.
 */
import type { ContentBlock } from '../../contract/conversation.ts'
import type { EventBody, EventOf, EventType } from '../../contract/events.ts'
import { composeSaid } from '../prompt/said.ts'

export const ANSWER_EVENTS: readonly EventType[] = [
  'text-end',
  'tool-start',
  'tool-end',
  'message',
  'memory-clear',
  'attempt-end',
]

export function composeAnswer(events: readonly EventBody[], clip = createClip()): ContentBlock[] {
  const blocks: ContentBlock[] = []
  let unfinished = ''
  const flush = () => {
    if (unfinished.trim() !== '') blocks.push({ type: 'text', text: unfinished })
    unfinished = ''
  }
  for (const event of events) {
    if ('parentToolUseId' in event && event.parentToolUseId !== undefined) continue
    switch (event.type) {
      case 'text-delta':
        unfinished += event.text
        break
      case 'text-end':
        unfinished = ''
        blocks.push({ type: 'text', text: event.text })
        break
      case 'tool-start':
        blocks.push(toolUseBlock(event))
        break
      case 'tool-end':
        blocks.push({
          type: 'tool-result',
          toolUseId: event.toolUseId,
          isError: event.isError,
          ...clip(event.content ?? null),
        })
        break
      case 'message':
        flush()
        blocks.push({ type: 'text', text: `[${composeSaid(event)}]` })
        break
      case 'memory-clear':
        blocks.push({ type: 'memory-cleared' })
        break
      case 'attempt-end':
        flush()
        break
    }
  }
  flush()
  return blocks
}

/** A message keeps only those parts of the tool description that cannot be read from the input. */
export const toolUseBlock = ({
  toolUseId,
  name,
  input,
  kind,
  questions,
}: Omit<EventOf<'tool-start'>, 'type'>): Extract<ContentBlock, { type: 'tool-use' }> => ({
  type: 'tool-use',
  toolUseId,
  name,
  input,
  ...(kind === undefined ? {} : { kind }),
  ...(questions === undefined ? {} : { questions }),
})

export interface ClipLimits {
  /** Limit of one result. */
  resultChars: number
  /** Limit of all results of an answer in total. */
  allChars: number
  /** Limit of each further result once `allChars` is reached. */
  laterChars: number
}

const STORED: ClipLimits = { resultChars: 16_000, allChars: 1_000_000, laterChars: 1000 }

/** The part of a tool's result that is stored in a message. */
export type Clipped = Pick<ToolResultBlock, 'content' | 'clipped'>
type ToolResultBlock = Extract<ContentBlock, { type: 'tool-result' }>

/**
 * Returns a function that shortens tool results; the run's events have them in full. Each result is clipped to
 * `resultChars`, and once all results of an answer reach `allChars`, further ones to `laterChars`. The function counts
 * the characters of one answer, so each answer needs its own.
 */
export function createClip({ resultChars, allChars, laterChars } = STORED): (content: unknown) => Clipped {
  let room = allChars
  return (content) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    const max = Math.min(resultChars, Math.max(laterChars, room))
    room -= Math.min(text.length, max)
    if (text.length <= max) return { content }
    const clipped = text.length - max
    return { content: `${copyOf(text.slice(0, max))}${noteOf(clipped)}`, clipped }
  }
}

const noteOf = (clipped: number) => `… (${clipped} more characters)`

/** A slice of a string keeps the whole string in memory unless it is copied. */
const copyOf = (text: string): string => JSON.parse(JSON.stringify(text))

/** The stored text of a result, and how many characters were cut off. */
export function storedResult({ content, clipped = 0 }: Clipped): { text: string; missing: number } {
  const text = resultText(content)
  return { text: clipped > 0 ? text.slice(0, -noteOf(clipped).length) : text, missing: clipped }
}

/** A tool's result is a text, or a list of blocks of which some are texts. */
export function resultText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content == null ? '' : JSON.stringify(content)
  return content
    .map((block) => {
      const { type, text } = block as { type?: unknown; text?: unknown }
      return typeof text === 'string' ? text : `(${String(type)})`
    })
    .join('\n')
}
