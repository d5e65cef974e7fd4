/** Builds the messages of a session from what was asked and from the events of the answers. */
import type { ContentBlock } from '../../contract/conversation.ts'
import type { EventBody, EventType } from '../../contract/events.ts'
import type { HistoryMessage } from '../../contract/query.ts'
import { composeAnswer, createClip } from '../history/answer.ts'

export const MESSAGE_EVENTS: readonly EventType[] = ['attempt-start', 'text-end', 'tool-start', 'tool-end']

/** Nothing is cut off. */
const whole = createClip({
  resultChars: Number.POSITIVE_INFINITY,
  allChars: Number.POSITIVE_INFINITY,
  laterChars: Number.POSITIVE_INFINITY,
})

export class MessageLog {
  readonly #messages: { role: HistoryMessage['role']; blocks: ContentBlock[]; at: string | null }[] = []
  /** The attempt that is being read only compacts the session, so its texts are no answer. */
  #makesRoom = false

  get messages(): HistoryMessage[] {
    return this.#messages
  }

  add(messages: readonly HistoryMessage[]): void {
    this.#messages.push(...messages.map((message) => ({ ...message, blocks: [...message.blocks] })))
  }

  ask(text: string, at: Date): void {
    this.#messages.push({ role: 'user', blocks: [{ type: 'text', text }], at: at.toISOString() })
  }

  answer(blocks: readonly ContentBlock[], at: Date): void {
    for (const block of blocks) this.#append(block, at)
  }

  note(event: EventBody, at: Date): void {
    if (event.type === 'attempt-start') this.#makesRoom = event.makesRoom === true
    if (!this.#makesRoom) this.answer(composeAnswer([event], whole), at)
  }

  #append(block: ContentBlock, at: Date): void {
    const role = block.type === 'tool-result' ? 'user' : 'assistant'
    const last = this.#messages.at(-1)
    // A prompt is a message of its own; the results of several calls, and the texts and calls of an answer, are joined.
    const isPrompt = role === 'user' && last?.blocks.at(-1)?.type === 'text'
    if (last?.role === role && !isPrompt) last.blocks.push(block)
    else this.#messages.push({ role, blocks: [block], at: at.toISOString() })
  }
}
