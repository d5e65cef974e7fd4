/**
 * Copies of sessions. A transcript is only appended to, so any part from its beginning is the transcript as it once was,
 * and the CLI resumes it as it would have then. Every record names the session in `sessionId`; nothing else has to change
 * in a copy. The ids of messages stay: `--fork-session` of the CLI keeps them too.
 *
 * Before a question the CLI notes that it was put into its queue (`queue-operation`, with the text). These notes belong
 * to the turn that follows them.
 */
import { openUntrusted } from '../../files/untrusted.ts'
import type { CutPoint, SessionCopies, TranscriptPart } from '../session-copies.ts'
import { readPositionedLines } from './positioned-lines.ts'
import { asksSomething } from './turn-records.ts'
import { isRecord, type Json } from './wire.ts'

export const claudeCopies: SessionCopies = {
  readPart,
  readPosition,
  rename,
  hasRecords: (path) => path.endsWith('.jsonl'),
  structure: new Set([
    'type',
    'subtype',
    'uuid',
    'parentUuid',
    'logicalParentUuid',
    'sessionId',
    'leafUuid',
    'promptId',
    'requestId',
    'agentId',
    'timestamp',
    'version',
    'cwd',
  ]),
}

async function readPart(transcript: string, at: CutPoint | null): Promise<TranscriptPart | null> {
  const reader = new PartReader(at)
  for await (const { text, end } of readPositionedLines(transcript)) if (!reader.read(text, end)) break
  return reader.result()
}

class PartReader {
  readonly #at: CutPoint | null
  readonly #above = new Map<string, string | null>()
  readonly #questions: string[] = []
  #agentSessionId: string | null = null
  #newest: string | null = null
  #costUsd: number | null = null
  #contextTokens: number | null = null
  #marksOrigins = false
  #found: boolean
  /** The positions after the last line, and after the last line that belongs to the turns so far. */
  #end = 0
  #turnsEnd = 0

  constructor(at: CutPoint | null) {
    this.#at = at
    this.#found = at === null
  }

  /** Returns false if the line, or what follows it, does not belong to the part. */
  read(line: string, end: number): boolean {
    const record = line.includes('"uuid":') || isNote(line, 'cost-state') ? parse(line) : null
    const uuid = typeof record?.uuid === 'string' ? record.uuid : null
    const isQuestion = record !== null && uuid !== null && this.#asks(record)
    if (isQuestion && this.#found && this.#at !== null) {
      this.#end = this.#turnsEnd
      return false
    }
    this.#end = end
    if (!isNote(line, 'queue-operation')) this.#turnsEnd = end
    if (record?.type === 'cost-state' && typeof record.totalCostUSD === 'number')
      this.#costUsd = record.totalCostUSD
    if (record === null || uuid === null) return true
    if (isQuestion) this.#questions.push(uuid)
    this.#note(record, uuid)
    if (uuid !== this.#at?.messageId) return true
    this.#found = true
    return isQuestion && this.#at.keep === 'turn'
  }

  #asks(record: Json): boolean {
    if (typeof record.turnOrigin === 'string') this.#marksOrigins = true
    else if (this.#marksOrigins) return false
    return asksSomething(record)
  }

  #note(record: Json, uuid: string): void {
    const above = [record.parentUuid, record.logicalParentUuid].find((id) => typeof id === 'string')
    this.#above.set(uuid, (above as string | undefined) ?? null)
    if (typeof record.sessionId === 'string') this.#agentSessionId = record.sessionId
    if (!isRecord(record.message) || record.isSidechain === true) return
    this.#newest = uuid
    const usage = isRecord(record.message.usage) ? record.message.usage : null
    const tokens = usage && tokensOf(usage)
    if (tokens) this.#contextTokens = tokens
  }

  result(): TranscriptPart | null {
    if (!this.#found || this.#newest === null || !this.#endsOnItsBranch()) return null
    return {
      bytes: this.#end,
      agentSessionId: this.#agentSessionId,
      questions: this.#questions,
      lastMessageId: this.#newest,
      costUsd: this.#costUsd,
      contextTokens: this.#contextTokens,
    }
  }

  /** The CLI continues the branch of the newest message: the one that was asked for must be on it. */
  #endsOnItsBranch(): boolean {
    const sought = this.#at?.messageId ?? null
    // A point that is not a message, such as an attachment, comes after the newest one.
    return sought === null || this.#isAbove(sought, this.#newest) || this.#isAbove(this.#newest, sought)
  }

  #isAbove(upper: string | null, lower: string | null): boolean {
    const passed = new Set<string>()
    for (let at = lower; at !== null && !passed.has(at); at = this.#above.get(at) ?? null) {
      if (at === upper) return true
      passed.add(at)
    }
    return false
  }
}

const tokensOf = (usage: Json): number =>
  ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'].reduce(
    (sum, name) => sum + (typeof usage[name] === 'number' ? usage[name] : 0),
    0,
  )

const isNote = (line: string, type: string) => line.startsWith(`{"type":"${type}"`)

/** Longer than most records; several are read if the last one is longer. */
const TAIL_BYTES = 1 << 18

async function readPosition(transcript: string): Promise<string | null> {
  const file = await openUntrusted(transcript, { followLink: true })
  if (file === null) return null
  try {
    const { size } = await file.stat()
    for (let length = Math.min(TAIL_BYTES, size); ; length = Math.min(length * 8, size)) {
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length)
      const lines = buffer.toString('utf8').split('\n')
      // The first line may be cut off, and the last one may still be written.
      const whole = lines.slice(length === size ? 0 : 1, -1)
      const record = whole.findLast((line) => line.includes('"uuid":') && isMessage(parse(line)))
      const found = record === undefined ? null : parse(record)?.uuid
      if (typeof found === 'string' || length === size) return (found as string | undefined) ?? null
    }
  } finally {
    await file.close()
  }
}

const isMessage = (record: Json | null) =>
  record !== null &&
  typeof record.uuid === 'string' &&
  isRecord(record.message) &&
  record.isSidechain !== true

function rename(fromId: string, toId: string): (line: string) => string {
  const field = (id: string) => `"sessionId":${JSON.stringify(id)}`
  const [before, after] = [field(fromId), field(toId)]
  return (line) => {
    const first = line.indexOf(before)
    if (first === -1) return line
    // Quotes in texts are escaped, so only a field can match; but a tool may have a field of that name too.
    const record = line.includes(before, first + 1) ? parse(line) : null
    if (record) return JSON.stringify({ ...record, sessionId: toId })
    return line.slice(0, first) + after + line.slice(first + before.length)
  }
}

function parse(line: string): Json | null {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}
