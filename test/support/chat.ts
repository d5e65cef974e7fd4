/** Conversations through the HTTP API of a world's daemon. */
import type {
  ConversationDetail,
  CreateConversation,
  CreateTurn,
  Message,
} from '../../src/contract/conversation.ts'
import type { Run, RunDetail } from '../../src/contract/run.ts'
import type { World } from './world.ts'

export class Chat {
  readonly #world: World
  readonly id: string

  private constructor(world: World, id: string) {
    this.#world = world
    this.id = id
  }

  static async create(world: World, request: Partial<CreateConversation> = {}): Promise<Chat> {
    const body = { workDir: world.workDir, ...request }
    const { id } = await world.api<{ id: string }>('POST', '/api/conversations', body)
    return new Chat(world, id)
  }

  async post(text: string, request: Partial<CreateTurn> = {}): Promise<Run> {
    const { run } = await this.#world.api<{ run: Run }>('POST', `/api/conversations/${this.id}/turns`, {
      text,
      ...request,
    })
    return run
  }

  async say(text: string, request: Partial<CreateTurn> = {}): Promise<RunDetail> {
    return this.#world.settled((await this.post(text, request)).id)
  }

  detail(): Promise<ConversationDetail> {
    return this.#world.api('GET', `/api/conversations/${this.id}`)
  }

  /** Counts from 0. */
  async message(index: number): Promise<Message> {
    const message = (await this.detail()).messages.at(index)
    if (!message) throw new Error(`no message ${index}`)
    return message
  }

  async edit(index: number, text: string): Promise<void> {
    const { id } = await this.message(index)
    await this.#world.api('PATCH', `/api/conversations/${this.id}/messages/${id}`, { text })
  }

  async drop(index: number): Promise<void> {
    const { id } = await this.message(index)
    await this.#world.api('DELETE', `/api/conversations/${this.id}/messages/${id}`)
  }

  async retry(index: number, request: Partial<CreateTurn> = {}): Promise<RunDetail> {
    const { id } = await this.message(index)
    const path = `/api/conversations/${this.id}/messages/${id}/retry`
    const { run } = await this.#world.api<{ run: Run }>('POST', path, request)
    return this.#world.settled(run.id)
  }

  /** Each message as "user: …" or "claude: …". */
  async texts(): Promise<string[]> {
    const { messages } = await this.detail()
    return messages.map((m) => {
      const text = m.blocks.flatMap((b) => (b.type === 'text' ? [b.text] : [])).join('')
      return `${m.role === 'user' ? 'user' : m.agent}: ${text}`
    })
  }
}
