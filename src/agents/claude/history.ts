/**
 * Reads the turns of a session that was made without Reprise, oldest first. The file is read twice: first for the links
 * between its records, to know which of them are on the branch that a resume continues; then for the turns themselves.
 * Besides the links, only the turn that is being read is in memory.
 *
 * Questions are recognised as turn-tree.ts does, so that a later look at the same session finds no turn that was not
 * imported. Unlike there, turns that the CLI copied from an earlier session count, because they are part of the history.
 */
import type { ContentBlock } from '../../contract/conversation.ts'
import { createClip } from '../../core/history/answer.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import { parseRecord, readLines } from './transcript-lines.ts'
import { cutText, questionText, readBlock, timeOf } from './turn-records.ts'
import { isRecord, type Json } from './wire.ts'

type Linked = Json & { uuid: string }

export async function* readClaudeTurns(path: string): AsyncGenerator<OutsideTurn> {
  const branch = await readBranch(path)
  /** On a branch, turns follow each other, so one of each can be open: on the resumed branch, and on others. */
  const open: Record<'in' | 'off', OpenTurn | null> = { in: null, off: null }
  const questionOf = new Map<string, string>()
  let marksOrigins = false
  for await (const record of readLinked(path)) {
    if (record.isSidechain === true) continue
    if (typeof record.turnOrigin === 'string') marksOrigins = true
    const above = aboveOf(record)
    const text = readQuestion(record, marksOrigins)
    const question = text === null ? above && questionOf.get(above) : record.uuid
    if (!question) continue
    questionOf.set(record.uuid, question)
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

class OpenTurn {
  readonly turn: OutsideTurn & { answer: ContentBlock[] }
  readonly #clip = createClip()

  constructor(record: Linked, text: string, inSession: boolean) {
    this.turn = { id: record.uuid, text: cutText(text), saidAt: timeOf(record), answer: [], inSession }
  }

  read({ message }: Json): void {
    // The CLI's own texts are not an answer.
    if (!isRecord(message) || message.model === '<synthetic>' || !Array.isArray(message.content)) return
    for (const block of message.content) {
      const read = isRecord(block) ? readBlock(block, this.#clip) : null
      if (read) this.turn.answer.push(read)
    }
  }
}

/** Once the CLI marks where turns begin, only marked records do. */
function readQuestion(record: Linked, marksOrigins: boolean): string | null {
  if (record.type !== 'user' || !isRecord(record.message)) return null
  if (marksOrigins && typeof record.turnOrigin !== 'string') return null
  return questionText(record)
}

/** The records on the branch that ends at the newest message: those that a resumed session contains. */
async function readBranch(path: string): Promise<Set<string>> {
  const links = new Map<string, string | null>()
  let newest: string | null = null
  for await (const record of readLinked(path)) {
    links.set(record.uuid, aboveOf(record))
    const isMessage = record.type === 'user' || record.type === 'assistant'
    if (isMessage && record.isSidechain !== true && isRecord(record.message)) newest = record.uuid
  }
  const branch = new Set<string>()
  for (let at = newest; at !== null && !branch.has(at); at = links.get(at) ?? null) branch.add(at)
  return branch
}

async function* readLinked(path: string): AsyncGenerator<Linked> {
  for await (const lines of readLines(path)) {
    for (const line of lines) {
      const record = line.includes('"uuid":') ? parseRecord(line) : null
      if (record && typeof record.uuid === 'string') yield record as Linked
    }
  }
}

/** The first record after a compaction names its parent as `logicalParentUuid`. */
function aboveOf({ parentUuid, logicalParentUuid }: Json): string | null {
  if (typeof parentUuid === 'string') return parentUuid
  return typeof logicalParentUuid === 'string' ? logicalParentUuid : null
}
