/**
 * Redacts what an agent streams. One attempt may stream several things at a time, its own and those of its sub-agents;
 * what is held back of one is told when that block ends, at the latest when the attempt does.
 */
import type { EventBody, EventOf, EventType } from '../../contract/events.ts'
import { DeltaStream } from './delta-stream.ts'
import type { Redactor } from './redactor.ts'

type Delta = EventOf<'text-delta' | 'thinking-delta' | 'tool-input-delta'>

interface Stream {
  type: Delta['type']
  text: DeltaStream
}

const ENDS_BLOCK: ReadonlySet<EventType> = new Set(['text-end', 'thinking-end', 'tool-start'] as const)

export class Deltas {
  readonly #redactor: Redactor
  /** What is being streamed, by the tool call of the sub-agent that does; its own is under the empty name. */
  readonly #streams = new Map<string, Stream>()

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  pass(bodies: readonly EventBody[]): readonly EventBody[] {
    return this.#redactor.active && bodies.some(({ type }) => isDelta(type) || endsStream(type))
      ? bodies.flatMap((body) => this.#pass(body))
      : bodies
  }

  /** All that is held back. */
  flush(): EventBody[] {
    return [...this.#streams.keys()].flatMap((by) => this.#end(by))
  }

  #pass(body: EventBody): EventBody[] {
    if (body.type === 'turn-end') return [...this.flush(), body]
    const by = ('parentToolUseId' in body && body.parentToolUseId) || ''
    if (!isDeltaBody(body)) return ENDS_BLOCK.has(body.type) ? [...this.#end(by), body] : [body]
    // Blocks come one after the other: the first of another kind ends the one before.
    const before = this.#streams.get(by)?.type === body.type ? [] : this.#end(by)
    const stream = this.#streams.get(by) ?? { type: body.type, text: new DeltaStream(this.#redactor) }
    this.#streams.set(by, stream)
    const text = stream.text.push(body.text)
    return text === '' ? before : [...before, { ...body, text }]
  }

  #end(by: string): EventBody[] {
    const stream = this.#streams.get(by)
    const text = stream?.text.flush()
    this.#streams.delete(by)
    return stream && text ? [{ type: stream.type, text, ...(by && { parentToolUseId: by }) }] : []
  }
}

const isDelta = (type: EventType) => type.endsWith('-delta')
const isDeltaBody = (body: EventBody): body is Delta => isDelta(body.type)
const endsStream = (type: EventType) => type === 'turn-end' || ENDS_BLOCK.has(type)
