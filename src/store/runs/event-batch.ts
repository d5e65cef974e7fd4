/**
 * Events on their way into the store, as the text that will be stored. An event is serialised as soon as it is known,
 * so that a batch holds little more than what it will write. Events that the daemon acts on are also kept as objects,
 * unredacted. If the batch has a redactor, it redacts the texts as they come; otherwise the store does it.
 */
import type { EventBody, EventType } from '../../contract/events.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import { redactEvent } from '../base/redaction.ts'

const ACTED_ON: ReadonlySet<EventType> = new Set([
  'question-ask',
  'permission-ask',
  'question-cancel',
  'reminder-ask',
  'tool-end',
  'retry-wait',
  'rate-limit',
  'turn-end',
  // The work and usage of an attempt are computed from these.
  'tool-start',
  'model-request',
  'model-call',
  'compaction',
  // These decide whether the agent is done.
  'prompt-accept',
  'session-start',
  'background',
] as const)

/**
 * A longer line may be nested deeper than JSON.stringify supports. That must fail when it is stored, not when it is
 * read.
 */
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

  /** Rebuilds a batch that was made in another thread with the same redactor. */
  static from(made: PlainBatch, redactor: Redactor): EventBatch {
    return Object.assign(new EventBatch(redactor), made)
  }

  /** A form that can be sent to another thread. */
  toPlain(): PlainBatch {
    const { types, texts, actedOn } = this
    return { types, texts, actedOn }
  }

  get size(): number {
    return this.texts.length
  }

  /** The event has been handled: it is stored, but the daemon need not act on it any more. */
  settle(body: EventBody): void {
    const index = this.actedOn.indexOf(body)
    if (index !== -1) this.actedOn.splice(index, 1)
  }

  /** Adds all of them, or none if one cannot be serialised. `line` is the JSON of a `native` event among them. */
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

  /** A copy in which an event is followed by those that `after` returns for its index. */
  insertAfter(after: (index: number) => readonly EventBody[]): EventBatch {
    const copy = new EventBatch(this.#redactor)
    this.types.forEach((type, index) => {
      copy.types.push(type)
      copy.texts.push(this.texts[index] as string)
      for (const body of after(index)) {
        copy.types.push(body.type)
        copy.texts.push(this.#textOf(body, undefined))
      }
    })
    copy.actedOn.push(...this.actedOn)
    return copy
  }

  #textOf(body: EventBody, line: string | undefined): string {
    const text = textOf(body, line)
    return this.#redactor ? redactEvent(this.#redactor, body.type, text) : text
  }
}

export type PlainBatch = Pick<EventBatch, 'types' | 'texts' | 'actedOn'>

/** A line that is JSON already is stored as it came. */
function textOf(body: EventBody, line: string | undefined): string {
  return body.type === 'native' && line !== undefined && line.length <= MAX_VERBATIM
    ? `{"type":"native","name":${JSON.stringify(body.name)},"line":${line}}`
    : JSON.stringify(body)
}
