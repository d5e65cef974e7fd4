/**
 * The answer of a run as content blocks, from its events: complete texts and tool calls in order, and, if the run was
 * cut off in the middle of a text, what there was of it. What sub-agents said among themselves is not part of it.
 */
import type { ContentBlock } from '../../contract/conversation.ts'
import type { EventBody, EventType } from '../../contract/events.ts'

export const ANSWER_EVENTS: readonly EventType[] = ['text-end', 'tool-start', 'tool-end', 'attempt-end']

export function composeAnswer(events: readonly EventBody[]): ContentBlock[] {
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
          content: clipContent(event.content ?? null),
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

const MAX_RESULT_CHARS = 16_000

/** A conversation keeps what a tool said in short; all of it is in the run's events. */
function clipContent(content: unknown): unknown {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return text.length <= MAX_RESULT_CHARS
    ? content
    : `${text.slice(0, MAX_RESULT_CHARS)}… (${text.length - MAX_RESULT_CHARS} more characters)`
}
