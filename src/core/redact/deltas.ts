/**
 * Redacts the deltas that an agent streams. One attempt may stream several blocks at a time, its own and those of its
 * sub-agents. Text that is held back is passed on when its block ends, at the latest at the end of the attempt.
 *
 * Text that is held back exists only in memory and must not be stored, because it may be half a secret. After a crash
 * of the daemon, the spool is read again from `since`, the start of the oldest open block, which restores the same
 * state.
 */
import type { EventBody, EventOf, EventType } from '../../contract/events.ts'
import { DeltaStream } from './delta-stream.ts'
import type { Redactor } from './redactor.ts'

type Delta = EventOf<'text-delta' | 'thinking-delta' | 'tool-input-delta'>

interface Stream {
  type: Delta['type']
  text: DeltaStream
  /** The position in the spool of the line with the block's first piece. */
  since: number
}

const CONCERNED: ReadonlySet<EventType> = new Set([
  'text-delta',
  'thinking-delta',
  'tool-input-delta',
  // These end one block, or all blocks.
  'text-end',
  'thinking-end',
  'tool-start',
  'turn-end',
] as const)

export class Deltas {
  readonly #redactor: Redactor
  /** The open block of each sub-agent, by its tool call; the block of the agent itself has the empty key. */
  readonly #streams = new Map<string, Stream>()

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Returns the same array if nothing has to be changed, because almost all output passes through here. */
  pass(bodies: readonly EventBody[], at: number): readonly EventBody[] {
    if (!this.#redactor.active) return bodies
    for (const { type } of bodies) if (CONCERNED.has(type)) return this.#passAll(bodies, at)
    return bodies
  }

  /** The position in the spool from which the held-back text can be read again; null if nothing is held back. */
  get since(): number | null {
    let oldest: number | null = null
    for (const { since } of this.#streams.values()) if (oldest === null || since < oldest) oldest = since
    return oldest
  }

  /** Ends all blocks and returns the text that was held back. */
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

  /** Blocks follow one another: the first piece of another type ends the block before. */
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
