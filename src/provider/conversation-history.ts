/** Accumulates a conversation, for the next query's `conversationHistory`. */
import { type Message, type MessageBlock, toMessage } from './history.ts'
import { type HistoryInput, readHistory } from './history-input.ts'

export class ConversationHistory {
  readonly #messages: Message[]

  constructor(messages: readonly HistoryInput[] = []) {
    this.#messages = readHistory(messages).map(toMessage)
  }

  addUserMessage(content: string): void {
    this.#add('user', [{ type: 'text', text: content }])
  }

  addAssistantMessage(content: readonly MessageBlock[]): void {
    this.#add('assistant', [...content])
  }

  /** Adds a message that a query yielded, if it is part of the conversation. */
  addMessage(message: { type: string }): void {
    for (const { role, content } of readHistory([message]).map(toMessage)) this.#add(role, content)
  }

  getMessages(): Message[] {
    return [...this.#messages]
  }

  get length(): number {
    return this.#messages.length
  }

  #add(role: Message['role'], content: MessageBlock[]): void {
    this.#messages.push({ role, content, timestamp: new Date().toISOString() })
  }
}
