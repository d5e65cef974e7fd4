/**
 * The answer of a run as content blocks, from its events: complete texts and tool calls in order, and, if the run was
 * cut off in the middle of a text, what there was of it. What sub-agents said among themselves is not part of it.
 */
import type { ContentBlock } from '../../contract/conversation.ts'
import type { EventBody, EventType } from '../../contract/events.ts'

export const ANSWER_EVENTS: readonly EventType[] = ['text-end', 'tool-start', 'tool-end', 'attempt-end']

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
        blocks.push({ type: 'tool-use', toolUseId: event.toolUseId, name: event.name, input: event.input })
        break
      case 'tool-end':
        blocks.push({
          type: 'tool-result',
          toolUseId: event.toolUseId,
          isError: event.isError,
          content: clip(event.content ?? null),
        })
        break
      case 'attempt-end':
        flush()
        break
    }
  }
  flush()
  return blocks
}

const RESULT_CHARS = 16_000
const ALL_RESULTS_CHARS = 1_000_000
const LATER_RESULT_CHARS = 1000

/**
 * Shortens what tools said; all of it is in the run's events. Each result is clipped, and once those of an answer are
 * much together, the further ones to about what a transcript shows of them. One clip serves one answer.
 */
export function createClip(): (content: unknown) => unknown {
  let room = ALL_RESULTS_CHARS
  return (content) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    const max = Math.min(RESULT_CHARS, Math.max(LATER_RESULT_CHARS, room))
    room -= Math.min(text.length, max)
    return text.length <= max
      ? content
      : `${copyOf(text.slice(0, max))}… (${text.length - max} more characters)`
  }
}

/** A part of a string keeps all of it in memory, unless it is made anew. */
const copyOf = (text: string): string => JSON.parse(JSON.stringify(text))
