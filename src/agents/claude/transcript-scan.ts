/**
 * One pass over a transcript. A line that is no JSON is skipped, as the CLI does. Messages (and much that is none) form
 * a chain by `parentUuid`; the CLI sends the model what it reaches going back from the newest. Lines without a `uuid`
 * are its own notes, often long, and are not parsed.
 */
import { createReadStream } from 'node:fs'
import type { OutsideTurn } from '../../core/history/outside.ts'
import { TurnTree } from './turn-tree.ts'
import { isRecord, type Json } from './wire.ts'

export interface Sought {
  sessionId: string
  /** A message to look for. */
  messageId: string | null
  /** A question that was answered in this session. */
  answeredId: string | null
  /** All questions that we asked in this session; null: who asked is not looked for. */
  ownIds: ReadonlySet<string> | null
}

export interface TranscriptScan {
  hasTurn: boolean
  hasMessage: boolean
  hasAnswer: boolean
  /** It has messages, and none is of this session. */
  foreign: boolean
  /** Going back from the newest message, one is missing: the CLI would forget what was before it. */
  broken: boolean
  /** The last line has no end and is no JSON: its writer was stopped in the middle. */
  torn: boolean
  /** Its newest question is somebody else's, and our last words are not before it. */
  forked: boolean
  /** What was asked by others. */
  outside: OutsideTurn[]
}

export async function scanTranscript(path: string, sought: Sought): Promise<TranscriptScan> {
  const state = new Scanner(sought)
  let rest = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 18 })) {
    const lines = (chunk as string).split('\n')
    // Most of a long line's pieces have no end in them: put together once, at its end.
    lines[0] = rest + lines[0]
    rest = lines.pop() ?? ''
    for (const line of lines) state.read(line)
  }
  // The last line may be whole and only lack its newline: the next CLI reads it nevertheless.
  state.read(rest)
  return state.result(isTorn(rest))
}

/** Whether what stands after the last newline is not a whole record. */
export function isTorn(tail: string): boolean {
  return tail.trim() !== '' && parse(tail) === null
}

class Scanner {
  readonly #sought: Sought
  readonly #parents = new Map<string, string | null>()
  readonly #tree: TurnTree | null
  #newest: string | null = null
  #hasTurn = false
  #hasMessage = false
  #own = false
  #others = false
  #answer: 'unasked' | 'awaited' | 'given' = 'unasked'

  constructor(sought: Sought) {
    this.#sought = sought
    this.#tree = sought.ownIds && new TurnTree(sought.sessionId, sought.ownIds)
  }

  read(line: string): void {
    const record = line.includes('"uuid":') ? parse(line) : null
    if (!record || typeof record.uuid !== 'string') return
    const parent = typeof record.parentUuid === 'string' ? record.parentUuid : null
    this.#parents.set(record.uuid, parent)
    this.#tree?.read(record as Json & { uuid: string })
    if (!isRecord(record.message)) return
    if (record.type === 'user') this.#readUser(record)
    else if (record.type === 'assistant') this.#readAssistant(record.message)
    else return
    if (record.isSidechain !== true) this.#newest = record.uuid
    if (typeof record.sessionId !== 'string' || record.sessionId === this.#sought.sessionId) this.#own = true
    else this.#others = true
  }

  #readUser({ uuid, message }: Json): void {
    this.#hasTurn = true
    if (uuid === this.#sought.messageId) this.#hasMessage = true
    if (uuid === this.#sought.answeredId) {
      // What the CLI did by itself ("/compact") has no answer of the model.
      this.#answer = isRecord(message) && isCommand(message.content) ? 'given' : 'awaited'
    }
  }

  #readAssistant(message: Json): void {
    if (this.#answer === 'awaited' && message.model !== '<synthetic>') this.#answer = 'given'
  }

  result(torn: boolean): TranscriptScan {
    return {
      hasTurn: this.#hasTurn,
      hasMessage: this.#hasMessage,
      hasAnswer: this.#answer === 'given',
      foreign: this.#others && !this.#own,
      broken: this.#isBroken(),
      torn,
      ...(this.#tree?.result(this.#newest) ?? { forked: false, outside: [] }),
    }
  }

  #isBroken(): boolean {
    const passed = new Set<string>()
    for (let at = this.#newest; at !== null; ) {
      const parent = this.#parents.get(at)
      if (parent === undefined || passed.has(at)) return true
      passed.add(at)
      at = parent
    }
    return false
  }
}

/** A command is recorded as such; what Reprise added to the message stands in blocks before it. */
function isCommand(content: unknown): boolean {
  const last: unknown = Array.isArray(content) ? content.at(-1) : content
  const text = isRecord(last) ? last.text : last
  return typeof text === 'string' && text.startsWith('<command-')
}

function parse(line: string): Json | null {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}
