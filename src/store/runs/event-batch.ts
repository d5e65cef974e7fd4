/**
 * Events on their way into the store, as the text that will be stored. It is made as soon as an event is known, so
 * that a batch holds little more than what it will write: of most events nothing else is needed. Those that somebody
 * acts on are kept beside it, as they were said. One that is given a redactor takes secrets out of its texts as they
 * come, wherever that is; of any other the store does it.
 */
import type { EventBody, EventType } from '../../contract/events.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import { redactEvent } from '../base/redaction.ts'

const ACTED_ON: ReadonlySet<EventType> = new Set([
  'question-ask',
  'permission-ask',
  'question-cancel',
  'tool-end',
  'retry-wait',
  'rate-limit',
  'turn-end',
  // What an attempt has done and used is read off these as they come.
  'tool-start',
  'model-request',
  'model-call',
  'compaction',
  // Whether the agent is done is read off these.
  'prompt-accept',
  'session-start',
  'background',
] as const)

/** A longer one may be nested deeper than JSON.stringify goes, which must show when it is stored, not when it is read. */
const MAX_VERBATIM = 4096

export class EventBatch {
  readonly types: EventType[] = []
  readonly texts: string[] = []
  readonly actedOn: EventBody[] = []
  readonly redacted: boolean
  readonly #redactor: Redactor | null

  constructor(redactor: Redactor | null = null) {
    this.#redactor = redactor
    this.redacted = redactor !== null
  }

  static of(bodies: readonly EventBody[]): EventBatch {
    const batch = new EventBatch()
    batch.add(bodies)
    return batch
  }

  /** One that was made in another thread, with the same redactor. */
  static from(made: PlainBatch, redactor: Redactor): EventBatch {
    return Object.assign(new EventBatch(redactor), made)
  }

  /** For another thread. */
  toPlain(): PlainBatch {
    const { types, texts, actedOn } = this
    return { types, texts, actedOn }
  }

  get size(): number {
    return this.texts.length
  }

  /** Somebody has seen to it: it is stored, and nobody else need act on it. */
  settle(body: EventBody): void {
    const index = this.actedOn.indexOf(body)
    if (index !== -1) this.actedOn.splice(index, 1)
  }

  /** All of them, or none if one has no text. `line` is the JSON that a `native` among them holds. */
  add(bodies: readonly EventBody[], line?: string): void {
    const before = this.texts.length
    try {
      for (const body of bodies) this.texts.push(this.#textOf(body, line))
    } catch (error) {
      this.texts.length = before
      throw error
    }
    for (const body of bodies) {
      this.types.push(body.type)
      if (ACTED_ON.has(body.type)) this.actedOn.push(body)
    }
  }

  #textOf(body: EventBody, line: string | undefined): string {
    const text = textOf(body, line)
    return this.#redactor ? redactEvent(this.#redactor, body.type, text) : text
  }
}

export type PlainBatch = Pick<EventBatch, 'types' | 'texts' | 'actedOn'>

/** What is JSON already and said as it came need not be written again. */
function textOf(body: EventBody, line: string | undefined): string {
  return body.type === 'native' && line !== undefined && line.length <= MAX_VERBATIM
    ? `{"type":"native","name":${JSON.stringify(body.name)},"line":${line}}`
    : JSON.stringify(body)
}
