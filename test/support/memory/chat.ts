/** A conversation with the agents of a stage, as a user of the engine sees it. */
import type {
  CreateConversation,
  CreateTurn,
  Message,
  RetryTurn,
} from '../../../src/contract/conversation.ts'
import { type ConversationId, MessageId } from '../../../src/contract/ids.ts'
import type { HeldAgent } from './held.ts'
import type { Stage } from './stage.ts'

export class MemoryChat {
  readonly #stage: Stage
  readonly id: ConversationId

  private constructor(stage: Stage, id: ConversationId) {
    this.#stage = stage
    this.id = id
  }

  static async create(stage: Stage, request: Partial<CreateConversation> = {}): Promise<MemoryChat> {
    const { id } = await stage.engine.createConversation({ workDir: stage.workDir, ...request })
    return new MemoryChat(stage, id)
  }

  /** The conversation of an earlier engine. */
  static of(stage: Stage, id: ConversationId): MemoryChat {
    return new MemoryChat(stage, id)
  }

  async post(text: string, request: Partial<CreateTurn> = {}, key: string | null = null) {
    return (await this.#stage.engine.createTurn(this.id, { text, ...request }, key)).run
  }

  async say(text: string, request: Partial<CreateTurn> = {}) {
    return this.#stage.settled((await this.post(text, request)).id)
  }

  /** Posts a turn and waits until the agent is in the middle of its answer. */
  async postHeld(text: string, agent: HeldAgent) {
    this.#stage.play(agent.script)
    const { id } = await this.post(text)
    await this.#stage.until(async () => (await this.#stage.eventsOf(id, 'text-delta')).length > 0)
    return id
  }

  /** Counts from 0. */
  async message(index: number): Promise<Message & { id: MessageId }> {
    const message = (await this.#stage.engine.getConversation(this.id)).messages.at(index)
    if (!message || !MessageId.is(message.id)) throw new Error(`no message ${index}`)
    return { ...message, id: message.id }
  }

  async edit(index: number, text: string): Promise<void> {
    await this.#stage.engine.editMessage(this.id, (await this.message(index)).id, text)
  }

  async editLastQuestion(text: string): Promise<void> {
    const { messages } = await this.#stage.engine.getConversation(this.id)
    await this.edit(
      messages.findLastIndex(({ role }) => role === 'user'),
      text,
    )
  }

  async drop(index: number): Promise<void> {
    await this.#stage.engine.truncate(this.id, (await this.message(index)).id)
  }

  async retry(index: number, request: RetryTurn = {}) {
    const { id } = await this.message(index)
    const { run } = await this.#stage.engine.retryFrom(this.id, id, request, null)
    return this.#stage.settled(run.id)
  }

  /** Each message as "user: …" or "memory: …". */
  async texts(): Promise<string[]> {
    const { messages } = await this.#stage.engine.getConversation(this.id)
    return messages.map(({ role, agent, blocks }) => {
      const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
      return `${role === 'user' ? 'user' : agent}: ${text}`
    })
  }
}
