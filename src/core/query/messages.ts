/** Builds the messages of a session from what was asked and from the events of the answers. */
import type { ContentBlock } from '../../contract/conversation.ts'
import type { EventBody, EventType } from '../../contract/events.ts'
import type { HistoryBlock, HistoryMessage } from '../../contract/query.ts'

export const MESSAGE_EVENTS: readonly EventType[] = ['attempt-start', 'text-end', 'tool-start', 'tool-end']

export class MessageLog {
  readonly messages: HistoryMessage[] = []
  /** The attempt that is being read only compacts the session, so its texts are no answer. */
  #makesRoom = false

  ask(text: string, at: Date): void {
    this.messages.push({ role: 'user', content: [{ type: 'text', text }], timestamp: at.toISOString() })
  }

  /** An answer that was given outside Reprise. */
  answer(blocks: readonly ContentBlock[], at: Date): void {
    for (const block of blocks) {
      if (block.type === 'text') this.#add('assistant', { type: 'text', text: block.text }, at)
      if (block.type === 'tool-use') this.note({ ...block, type: 'tool-start' }, at)
      if (block.type === 'tool-result') this.note({ ...block, type: 'tool-end' }, at)
    }
  }

  /** What sub-agents say is not part of the conversation. */
  note(event: EventBody, at: Date): void {
    if (event.type === 'attempt-start') this.#makesRoom = event.makesRoom === true
    if (this.#makesRoom || ('parentToolUseId' in event && event.parentToolUseId !== undefined)) return
    if (event.type === 'text-end') this.#add('assistant', { type: 'text', text: event.text }, at)
    if (event.type === 'tool-start') {
      const { toolUseId: id, name, input } = event
      this.#add('assistant', { type: 'tool_use', tool_use: { id, name, input } }, at)
    }
    if (event.type === 'tool-end') {
      const { toolUseId: tool_use_id, content, isError: is_error } = event
      this.#add('user', { type: 'tool_result', tool_result: { tool_use_id, content, is_error } }, at)
    }
  }

  #add(role: HistoryMessage['role'], block: HistoryBlock, at: Date): void {
    const last = this.messages.at(-1)
    // A prompt is a message of its own; the results of several calls, and the texts and calls of an answer, are joined.
    const isPrompt = role === 'user' && last?.content.at(-1)?.type === 'text'
    if (last?.role === role && !isPrompt) last.content.push(block)
    else this.messages.push({ role, content: [block], timestamp: at.toISOString() })
  }
}
