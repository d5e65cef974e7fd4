/**
 * Divides a transcript into turns by who asked. Records form a tree by their parents (the first record after a
 * compaction names its parent as `logicalParentUuid`); a record belongs to the nearest question above it.
 *
 * A question is ours if it has an id that we assigned. The CLI also writes user records that nobody asked (tool
 * results, notices of background tasks, summaries, its own commands): newer versions mark the first record of each turn
 * with its origin, and then only those count.
 *
 * forked: the newest record belongs to a question that is not ours, and our last message is not above it. The CLI would
 * resume a history in which we said something else, or nothing.
 */
import type { ContentBlock } from '../../contract/conversation.ts'
import { type Clipped, createClip } from '../../core/history/answer.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import { cutText, questionText, readBlock, timeOf } from './turn-records.ts'
import { isRecord, type Json } from './wire.ts'

/** More than anybody asks by hand between two turns; the newest are kept. */
const MAX_TURNS = 200

interface Question {
  id: string
  text: string
  saidAt: Date | null
  answer: ContentBlock[]
  marked: boolean
  clip: (content: unknown) => Clipped
}

export class TurnTree {
  readonly #agentSessionId: string
  readonly #ours: ReadonlySet<string>
  readonly #known: ReadonlySet<string>
  readonly #above = new Map<string, string | null>()
  /** Maps each record to the question it belongs to. */
  readonly #questionOf = new Map<string, string>()
  readonly #others = new Map<string, Question>()
  #marksOrigins = false
  #ourLast: string | null = null

  /** Turns that are `known` are not reported, and their content is not kept. */
  constructor(agentSessionId: string, ours: ReadonlySet<string>, known: ReadonlySet<string>) {
    this.#agentSessionId = agentSessionId
    this.#ours = ours
    this.#known = known
  }

  /** Must be called for every record that has a uuid, in the order of the file. */
  read(record: Json & { uuid: string }): void {
    const above = [record.parentUuid, record.logicalParentUuid].find((id) => typeof id === 'string') ?? null
    this.#above.set(record.uuid, above as string | null)
    if (record.isSidechain === true) return
    const isQuestion = this.#readQuestion(record)
    const inherited = this.#questionOf.get(above as string)
    const question = isQuestion ? record.uuid : inherited
    if (question === undefined) return
    this.#questionOf.set(record.uuid, question)
    if (isQuestion || record.type === 'assistant') {
      if (this.#ours.has(question)) this.#ourLast = record.uuid
    }
    if (!isQuestion && isRecord(record.message)) this.#readAnswer(question, record.message)
  }

  result(newest: string | null): { forked: boolean; outside: OutsideTurn[] } {
    const others = [...this.#others.values()].filter(({ marked }) => marked || !this.#marksOrigins)
    if (others.length === 0) return { forked: false, outside: [] }
    const path = this.#pathTo(newest)
    const asked = this.#questionAbove(path, new Set(others.map(({ id }) => id)))
    const forked = asked !== null && this.#ourLast !== null && !path.has(this.#ourLast)
    const known = forked ? this.#pathTo(this.#ourLast) : path
    return {
      forked,
      outside: others
        .filter(({ id }) => !this.#known.has(id))
        .slice(-MAX_TURNS)
        .map(({ id, text, saidAt, answer }) => ({
          id,
          text,
          saidAt,
          answer,
          inSession: known.has(id),
        })),
    }
  }

  #readQuestion(record: Json & { uuid: string }): boolean {
    if (this.#ours.has(record.uuid)) return record.type === 'user'
    if (typeof record.turnOrigin === 'string') this.#marksOrigins = true
    else if (this.#marksOrigins) return false
    // A record copied from another session was not asked in this one.
    const isCopy = typeof record.sessionId === 'string' && record.sessionId !== this.#agentSessionId
    if (isCopy || record.type !== 'user' || !isRecord(record.message)) return false
    const text = questionText(record)
    if (text === null) return false
    this.#others.set(record.uuid, {
      id: record.uuid,
      text: this.#known.has(record.uuid) ? '' : cutText(text),
      saidAt: timeOf(record),
      answer: [],
      marked: typeof record.turnOrigin === 'string',
      clip: createClip(),
    })
    return true
  }

  #readAnswer(question: string, message: Json): void {
    const other = this.#others.get(question)
    // The CLI's own texts are not an answer.
    if (
      !other ||
      this.#known.has(question) ||
      message.model === '<synthetic>' ||
      !Array.isArray(message.content)
    )
      return
    for (const block of message.content) {
      const read = isRecord(block) ? readBlock(block, other.clip) : null
      if (read) other.answer.push(read)
    }
  }

  /** The record and all records above it. */
  #pathTo(newest: string | null): Set<string> {
    const path = new Set<string>()
    for (let at = newest; at !== null && !path.has(at); at = this.#above.get(at) ?? null) path.add(at)
    return path
  }

  /** The newest question on the path, if it is one of these. */
  #questionAbove(path: ReadonlySet<string>, questions: ReadonlySet<string>): string | null {
    for (const id of path) {
      if (this.#ours.has(id)) return null
      if (questions.has(id)) return id
    }
    return null
  }
}
