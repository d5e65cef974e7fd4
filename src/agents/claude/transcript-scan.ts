/**
 * Scans a transcript in one pass. A line that is not JSON is skipped, as the CLI does. Messages (and many other
 * records) form a chain by `parentUuid`; the CLI sends the model the chain that ends at the newest. Lines without a
 * `uuid` are the CLI's own notes, often long, and are not parsed.
 */
import type { OutsideTurn } from '../../core/history/outside.ts'
import { parseRecord, readLines } from './transcript-lines.ts'
import { TurnTree } from './turn-tree.ts'
import { isRecord, type Json } from './wire.ts'

export interface Sought {
  agentSessionId: string
  /** A message to look for. */
  messageId: string | null
  /** A question that was answered in this session. */
  answeredId: string | null
  /** The ids of all questions that we asked in this session; null: do not determine who asked. */
  ownIds: ReadonlySet<string> | null
  /** Questions of others that are known already. */
  knownIds?: ReadonlySet<string> | null
}

export interface TranscriptScan {
  hasTurn: boolean
  hasMessage: boolean
  hasAnswer: boolean
  /** The transcript has messages, but none of this session. */
  foreign: boolean
  /** A message in the chain that ends at the newest one is missing: the CLI would lose everything before it. */
  broken: boolean
  /** The last line has no newline and is not JSON: its writer was stopped in the middle. */
  torn: boolean
  /** The newest question is not ours, and our last message is not above it. */
  forked: boolean
  /** Turns that others asked. */
  outside: OutsideTurn[]
}

export async function scanTranscript(path: string, sought: Sought): Promise<TranscriptScan> {
  const state = new Scanner(sought)
  // The last line may be complete and only lack its newline: the CLI reads it as well.
  let last = ''
  for await (const lines of readLines(path)) {
    for (const line of lines) state.read(line)
    last = lines.at(-1) ?? ''
  }
  return state.result(isTorn(last))
}

/** Whether the text after the last newline is not a complete record. */
export function isTorn(tail: string): boolean {
  return tail.trim() !== '' && parseRecord(tail) === null
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
    this.#tree =
      sought.ownIds && new TurnTree(sought.agentSessionId, sought.ownIds, sought.knownIds ?? new Set())
  }

  read(line: string): void {
    const record = line.includes('"uuid":') ? parseRecord(line) : null
    if (!record || typeof record.uuid !== 'string') return
    const parent = typeof record.parentUuid === 'string' ? record.parentUuid : null
    this.#parents.set(record.uuid, parent)
    this.#tree?.read(record as Json & { uuid: string })
    if (isRecord(record.attachment)) this.#readAttachment(record.attachment)
    if (!isRecord(record.message)) return
    if (record.type === 'user') this.#readUser(record)
    else if (record.type === 'assistant') this.#readAssistant(record.message)
    else return
    if (record.isSidechain !== true) this.#newest = record.uuid
    if (typeof record.sessionId !== 'string' || record.sessionId === this.#sought.agentSessionId)
      this.#own = true
    else this.#others = true
  }

  #readUser({ uuid, message }: Json): void {
    this.#hasTurn = true
    if (uuid === this.#sought.messageId) this.#hasMessage = true
    if (uuid === this.#sought.answeredId) {
      // A command that the CLI executes itself ("/compact") has no answer of the model.
      this.#answer = isRecord(message) && isCommand(message.content) ? 'given' : 'awaited'
    }
  }

  /** A message that the agent took in the middle of a turn. */
  #readAttachment({ type, source_uuid }: Json): void {
    if (type === 'queued_command' && source_uuid === this.#sought.messageId) this.#hasMessage = true
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

/** A command is recorded as such; what Reprise added to the message is in the blocks before it. */
function isCommand(content: unknown): boolean {
  const last: unknown = Array.isArray(content) ? content.at(-1) : content
  const text = isRecord(last) ? last.text : last
  return typeof text === 'string' && text.startsWith('<command-')
}
