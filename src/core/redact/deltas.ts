/**
 * Redacts what an agent streams. One attempt may stream several things at a time, its own and those of its sub-agents;
 * what is held back of one is told when that block ends, at the latest when the attempt does.
 *
 * What is held back is nowhere but here, and must not be written down: it may be half a secret. Whoever comes after a
 * death reads the spool again from `since`, where the oldest block that is not over begins, and holds the same.
 */
import type { EventBody, EventOf, EventType } from '../../contract/events.ts'
import { DeltaStream } from './delta-stream.ts'
import type { Redactor } from './redactor.ts'

type Delta = EventOf<'text-delta' | 'thinking-delta' | 'tool-input-delta'>

interface Stream {
  type: Delta['type']
  text: DeltaStream
  /** Where in the spool the line of its first piece begins. */
  since: number
}

const CONCERNED: ReadonlySet<EventType> = new Set([
  'text-delta',
  'thinking-delta',
  'tool-input-delta',
  // The end of a block, or of all blocks.
  'text-end',
  'thinking-end',
  'tool-start',
  'turn-end',
] as const)

export class Deltas {
  readonly #redactor: Redactor
  /** What is being streamed, by the tool call of the sub-agent that does; its own is under the empty name. */
  readonly #streams = new Map<string, Stream>()

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Nothing is built for what passes as it is: most lines of most agents come through here. */
  pass(bodies: readonly EventBody[], at: number): readonly EventBody[] {
    if (!this.#redactor.active) return bodies
    for (const { type } of bodies) if (CONCERNED.has(type)) return this.#passAll(bodies, at)
    return bodies
  }

  /** From where on what is held back can be read again; null if that is nothing. */
  get since(): number | null {
    let oldest: number | null = null
    for (const { since } of this.#streams.values()) if (oldest === null || since < oldest) oldest = since
    return oldest
  }

  /** All that is held back. */
  flush(): EventBody[] {
    const passed: EventBody[] = []
    for (const by of [...this.#streams.keys()]) this.#end(by, passed)
    return passed
  }

  #passAll(bodies: readonly EventBody[], at: number): readonly EventBody[] {
    const passed: EventBody[] = []
    for (const body of bodies) {
      switch (body.type) {
        case 'text-delta':
        case 'thinking-delta':
        case 'tool-input-delta': {
          const text = this.#streamOf(body, at, passed).push(body.text)
          if (text !== '')
            passed.push(text === body.text ? body : deltaOf(body.type, text, body.parentToolUseId))
          continue
        }
        case 'text-end':
        case 'thinking-end':
        case 'tool-start':
          this.#end(body.parentToolUseId ?? '', passed)
          break
        case 'turn-end':
          passed.push(...this.flush())
      }
      passed.push(body)
    }
    return passed
  }

  /** Blocks come one after the other: the first piece of another kind ends the one before. */
  #streamOf({ type, parentToolUseId: by = '' }: Delta, since: number, passed: EventBody[]): DeltaStream {
    const known = this.#streams.get(by)
    if (known?.type === type) return known.text
    this.#end(by, passed)
    const text = new DeltaStream(this.#redactor)
    this.#streams.set(by, { type, text, since })
    return text
  }

  #end(by: string, passed: EventBody[]): void {
    const stream = this.#streams.get(by)
    if (!stream) return
    this.#streams.delete(by)
    const text = stream.text.flush()
    if (text !== '') passed.push(deltaOf(stream.type, text, by || undefined))
  }
}

function deltaOf(type: Delta['type'], text: string, parentToolUseId: string | undefined): Delta {
  return parentToolUseId === undefined ? { type, text } : { type, text, parentToolUseId }
}
