/** Accumulates a conversation, for the next query's `conversationHistory`. */
import type { HistoryBlock, HistoryMessage } from '../contract/query.ts'
import { type HistoryInput, readHistory } from './history-input.ts'
import type { ProviderMessage } from './message.ts'

export class ConversationHistory {
  readonly #messages: HistoryMessage[]

  constructor(messages: readonly HistoryInput[] = []) {
    this.#messages = readHistory(messages)
  }

  addUserMessage(content: string): void {
    this.#add('user', [{ type: 'text', text: content }])
  }

  addAssistantMessage(content: readonly HistoryBlock[]): void {
    this.#add('assistant', [...content])
  }

  /** Adds a message that a query yielded, if it is part of the conversation. */
  addMessage(message: ProviderMessage): void {
    for (const { role, content } of readHistory([message])) this.#add(role, content)
  }

  getMessages(): HistoryMessage[] {
    return [...this.#messages]
  }

  get length(): number {
    return this.#messages.length
  }

  #add(role: HistoryMessage['role'], content: HistoryBlock[]): void {
    this.#messages.push({ role, content, timestamp: new Date().toISOString() })
  }
}
