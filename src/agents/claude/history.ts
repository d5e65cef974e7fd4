/**
 * Reads the turns of a session that was made without Reprise, oldest first. The file is read twice: first for the links
 * between its records, to know which of them are on the branch that a resume continues, and for the size of each turn;
 * then for the turns themselves. Besides the links, only the turn that is being read is in memory. With a limit, the
 * turns that are too old are not even composed: objects that live for a while are expensive to free, so a window of turns
 * that slides over a long file would make the memory of the process grow with the file.
 *
 * Questions are recognised as turn-tree.ts does, so that a later look at the same session finds no turn that was not
 * imported. Unlike there, turns that the CLI copied from an earlier session count, because they are part of the history.
 */
import type { ContentBlock } from '../../contract/conversation.ts'
import { createClip } from '../../core/history/answer.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import { roughChars } from '../../core/rough-chars.ts'
import type { TurnLimits } from '../existing-sessions.ts'
import { readPositionedLines } from './positioned-lines.ts'
import { parseRecord } from './transcript-lines.ts'
import { cutText, questionText, readBlock, timeOf } from './turn-records.ts'
import { isRecord, type Json } from './wire.ts'

type Linked = Json & { uuid: string }

export async function* readClaudeTurns(
  path: string,
  limits: TurnLimits | null = null,
): AsyncGenerator<OutsideTurn> {
  const { branch, isWanted } = await readOutline(path, limits)
  /** On a branch, turns follow each other, so one of each can be open: on the resumed branch, and on others. */
  const open: Record<'in' | 'off', OpenTurn | null> = { in: null, off: null }
  const questions = new Questions()
  for await (const record of readLinked(path)) {
    if (record.isSidechain === true) continue
    const { text, question } = questions.read(record)
    if (!question || !isWanted(question)) continue
    if (text !== null) {
      const side = branch.has(record.uuid) ? 'in' : 'off'
      const before = open[side]
      open[side] = new OpenTurn(record, text, side === 'in')
      if (before) yield before.turn
      continue
    }
    for (const turn of [open.in, open.off]) if (turn?.turn.id === question) turn.read(record)
  }
  for (const last of [open.in, open.off]) if (last) yield last.turn
}

/** Knows to which question each record belongs. */
class Questions {
  readonly #questionOf = new Map<string, string>()
  #marksOrigins = false

  /** The text if the record is a question, and the question to which it belongs. */
  read(record: Linked): { text: string | null; question: string | null } {
    if (typeof record.turnOrigin === 'string') this.#marksOrigins = true
    const text = readQuestion(record, this.#marksOrigins)
    const above = aboveOf(record)
    const question = text === null ? ((above && this.#questionOf.get(above)) ?? null) : record.uuid
    if (question) this.#questionOf.set(record.uuid, question)
    return { text, question }
  }
}

class OpenTurn {
  readonly turn: OutsideTurn & { answer: ContentBlock[] }
  readonly #clip = createClip()

  constructor(record: Linked, text: string, inSession: boolean) {
    this.turn = { id: record.uuid, text: cutText(text), saidAt: timeOf(record), answer: [], inSession }
  }

  read(record: Json): void {
    this.turn.answer.push(...readBlocks(record, this.#clip))
  }
}

function* readBlocks({ message }: Json, clip: ReturnType<typeof createClip>): Generator<ContentBlock> {
  // The CLI's own texts are not an answer.
  if (!isRecord(message) || message.model === '<synthetic>' || !Array.isArray(message.content)) return
  for (const block of message.content) {
    const read = isRecord(block) ? readBlock(block, clip) : null
    if (read) yield read
  }
}

/** Once the CLI marks where turns begin, only marked records do. */
function readQuestion(record: Linked, marksOrigins: boolean): string | null {
  if (record.type !== 'user' || !isRecord(record.message)) return null
  if (marksOrigins && typeof record.turnOrigin !== 'string') return null
  return questionText(record)
}

interface Outline {
  /** The records on the branch that ends at the newest message: those that a resumed session contains. */
  branch: ReadonlySet<string>
  /** Whether the turn of this question is new enough. */
  isWanted: (question: string) => boolean
}

async function readOutline(path: string, limits: TurnLimits | null): Promise<Outline> {
  const links = new Map<string, string | null>()
  const questions = new Questions()
  const sizes = new Map<string, { chars: number; clip: ReturnType<typeof createClip> }>()
  let newest: string | null = null
  for await (const record of readLinked(path)) {
    links.set(record.uuid, aboveOf(record))
    if (record.isSidechain === true) continue
    const isMessage = record.type === 'user' || record.type === 'assistant'
    if (isMessage && isRecord(record.message)) newest = record.uuid
    if (limits === null) continue
    const { text, question } = questions.read(record)
    if (text !== null) sizes.set(record.uuid, { chars: roughChars(cutText(text)), clip: createClip() })
    const size = text === null && question ? sizes.get(question) : undefined
    if (size) for (const block of readBlocks(record, size.clip)) size.chars += roughChars(block) + 8
  }
  const branch = new Set<string>()
  for (let at = newest; at !== null && !branch.has(at); at = links.get(at) ?? null) branch.add(at)
  if (limits === null) return { branch, isWanted: () => true }
  const wanted = new Set<string>()
  let chars = 0
  for (const [question, size] of [...sizes].reverse()) {
    if (!branch.has(question)) continue
    chars += size.chars
    if (wanted.size > 0 && (wanted.size === limits.turns || chars > limits.chars)) break
    wanted.add(question)
  }
  return { branch, isWanted: (question) => wanted.has(question) }
}

async function* readLinked(path: string): AsyncGenerator<Linked> {
  for await (const { text } of readPositionedLines(path, { unfinished: true })) {
    const record = text.includes('"uuid":') ? parseRecord(text) : null
    if (record && typeof record.uuid === 'string') yield record as Linked
  }
}

/** The first record after a compaction names its parent as `logicalParentUuid`. */
function aboveOf({ parentUuid, logicalParentUuid }: Json): string | null {
  if (typeof parentUuid === 'string') return parentUuid
  return typeof logicalParentUuid === 'string' ? logicalParentUuid : null
}
