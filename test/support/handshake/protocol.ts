/**
 * The client's side of the handshake. All state here is in memory only: the number of the last request, the kind of
 * each open request, whether the prompt was accepted, the text of this turn so far.
 *
 * initializing → opening → prompting → idle (⇄ prompting)
 */
import type { LineReading, Message, Protocol, ProtocolSeed } from '../../../src/agents/protocol.ts'
import type { EventBody } from '../../../src/contract/events.ts'
import { describeHandshakeTool } from './tools.ts'

export interface HandshakeSeed extends ProtocolSeed {
  /** The session to load; null: a new one. */
  sessionId: string | null
  promptId: string
  prompt: string
}

interface Incoming {
  id?: number | string
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { message: string }
}

export const request = (id: number | string, method: string, params: object): Message => ({
  id: `request-${id}`,
  line: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
})

export const FIRST_REQUEST = request(1, 'initialize', { protocolVersion: 1 })

export const promptRequest = (sessionId: string, messageId: string, prompt: string): Message =>
  request(`prompt-${messageId}`, 'session/prompt', { sessionId, messageId, prompt })

export class HandshakeProtocol implements Protocol {
  readonly #seed: HandshakeSeed
  /** The kind of each open request, by its number. The first was sent with the plan. */
  readonly #open = new Map<number, 'initialize' | 'open'>([[1, 'initialize']])
  #accepted = false
  #said = ''

  constructor(seed: ProtocolSeed) {
    this.#seed = seed as HandshakeSeed
  }

  read(line: string): LineReading {
    const message = JSON.parse(line) as Incoming
    const { id, method } = message
    if (method === 'session/update') return { events: this.#update(message.params ?? {}) }
    if (method === 'session/request_permission') return { events: this.#ask(id, message.params ?? {}) }
    if (message.error?.message === 'too long') return { events: [this.#end('context-overflow')] }
    if (message.error) return { events: [this.#end('crashed', message.error.message)] }
    if (typeof id === 'string' && id.startsWith('prompt-')) return { events: [this.#end('completed')] }
    const was = typeof id === 'number' ? this.#open.get(id) : undefined
    if (typeof id === 'number') this.#open.delete(id)
    if (was === 'initialize')
      return { events: [native('initialized', message)], messages: [this.#openSession(id)] }
    if (was === 'open') return this.#begin(String(message.result?.sessionId))
    return { events: [native('unknown', message)] }
  }

  #openSession(last: Incoming['id']): Message {
    const id = Number(last) + 1
    this.#open.set(id, 'open')
    const { sessionId } = this.#seed
    return sessionId === null ? request(id, 'session/new', {}) : request(id, 'session/load', { sessionId })
  }

  #begin(agentSessionId: string): LineReading {
    const { promptId, prompt } = this.#seed
    return {
      events: [{ type: 'session-start', agentSessionId }],
      messages: [promptRequest(agentSessionId, promptId, prompt)],
    }
  }

  #update({ kind, text, id, isError }: Record<string, unknown>): EventBody[] {
    const events: EventBody[] = []
    if (!this.#accepted) events.push({ type: 'prompt-accept', messageId: this.#seed.promptId })
    this.#accepted = true
    if (kind === 'text') {
      this.#said += String(text)
      events.push({ type: 'text-end', text: String(text) })
    } else events.push({ type: 'tool-end', toolUseId: String(id), isError: isError === true, content: '' })
    return events
  }

  #ask(id: Incoming['id'], { toolCall }: Record<string, unknown>): EventBody[] {
    const { id: toolUseId, name, input } = toolCall as { id: string; name: string; input: unknown }
    const described = describeHandshakeTool(name, input)
    return [
      { type: 'tool-start', toolUseId, name, input, ...described },
      {
        type: 'permission-ask',
        requestId: String(id),
        toolUseId,
        tool: name,
        input,
        via: 'prompt',
        ...described,
      },
    ]
  }

  #end(name: 'completed' | 'crashed' | 'context-overflow', message: string = name): EventBody {
    return { type: 'turn-end', outcome: { name, message }, text: this.#said, turns: 1 }
  }
}

const native = (name: string, line: Incoming): EventBody => ({ type: 'native', name, line })
