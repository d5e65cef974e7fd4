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
import { type Clipped, createClip, toolUseBlock } from '../../core/history/answer.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import { describeClaudeTool } from './describe-tool.ts'
import { isRecord, type Json } from './wire.ts'

/** `task_notification`, `scheduled` and similar turns are started by the CLI itself. */
const ASKED_BY_SOMEBODY: ReadonlySet<unknown> = new Set(['sdk', 'human'])
/** More than anybody asks by hand between two turns; the newest are kept. */
const MAX_TURNS = 200
const MAX_TEXT_CHARS = 1_000_000

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
  readonly #above = new Map<string, string | null>()
  /** Maps each record to the question it belongs to. */
  readonly #questionOf = new Map<string, string>()
  readonly #others = new Map<string, Question>()
  #marksOrigins = false
  #ourLast: string | null = null

  constructor(agentSessionId: string, ours: ReadonlySet<string>) {
    this.#agentSessionId = agentSessionId
    this.#ours = ours
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
      outside: others.slice(-MAX_TURNS).map(({ id, text, saidAt, answer }) => ({
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
    const saidAt = typeof record.timestamp === 'string' ? new Date(record.timestamp) : null
    this.#others.set(record.uuid, {
      id: record.uuid,
      text: cut(text),
      saidAt: saidAt && !Number.isNaN(saidAt.getTime()) ? saidAt : null,
      answer: [],
      marked: typeof record.turnOrigin === 'string',
      clip: createClip(),
    })
    return true
  }

  #readAnswer(question: string, message: Json): void {
    const other = this.#others.get(question)
    // The CLI's own texts are not an answer.
    if (!other || message.model === '<synthetic>' || !Array.isArray(message.content)) return
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

/** Whether the record is a question of a person or a program, as far as the record itself tells. */
export const asksSomething = (record: Json): boolean =>
  record.type === 'user' &&
  record.isSidechain !== true &&
  isRecord(record.message) &&
  questionText(record) !== null

/** null: the record is not a question. */
function questionText(record: Json): string | null {
  if (record.isMeta === true || record.isCompactSummary === true) return null
  if (typeof record.turnOrigin === 'string' && !ASKED_BY_SOMEBODY.has(record.turnOrigin)) return null
  const { content } = record.message as Json
  const text = typeof content === 'string' ? content : Array.isArray(content) ? textOf(content) : ''
  const command = /<command-name>(.*?)<\/command-name>/s.exec(text)?.[1]
  if (command !== undefined) {
    // A command that was sent to the model is marked; one that the CLI executed itself did not reach the model.
    if (typeof record.turnOrigin !== 'string') return null
    return `${command} ${/<command-args>(.*?)<\/command-args>/s.exec(text)?.[1] ?? ''}`.trim()
  }
  const isNotice = text === '' || /^(<[a-z-]+>|\[Request interrupted)/.test(text)
  return isNotice && typeof record.turnOrigin !== 'string' ? null : text
}

/** Content that includes a tool result was written by the CLI. */
function textOf(content: readonly unknown[]): string {
  const blocks = content.filter(isRecord)
  if (blocks.some(({ type }) => type === 'tool_result')) return ''
  return blocks.map(({ type, text }) => (typeof text === 'string' ? text : `(${String(type)})`)).join('\n')
}

function readBlock(block: Json, clip: (content: unknown) => Clipped): ContentBlock | null {
  if (block.type === 'text' && typeof block.text === 'string') return { type: 'text', text: cut(block.text) }
  if (block.type === 'tool_use' && typeof block.id === 'string') {
    const [name, input] = [String(block.name), block.input ?? null]
    return toolUseBlock({ toolUseId: block.id, name, input, ...describeClaudeTool(name, input) })
  }
  if (block.type === 'tool_result' && typeof block.tool_use_id === 'string') {
    return {
      type: 'tool-result',
      toolUseId: block.tool_use_id,
      isError: block.is_error === true,
      ...clip(block.content ?? null),
    }
  }
  return null
}

const cut = (text: string) =>
  text.length <= MAX_TEXT_CHARS
    ? text
    : `${text.slice(0, MAX_TEXT_CHARS)}… (${text.length - MAX_TEXT_CHARS} more characters)`
