/**
 * A log of the agents' texts and tool calls with their output, for a session that does not know them. Tools may print
 * hundreds of megabytes, which no model accepts, so the log keeps a bounded amount, newest first, and counts the rest.
 */

import type { ContentBlock } from '../../contract/conversation.ts'
import type { EventType } from '../../contract/events.ts'
import { composeAnswer, createClip, resultText, storedResult } from '../../core/history/answer.ts'
import { toParts } from '../../core/history/render.ts'
import { stepOf, type ToolCall } from '../../core/prompt/interruption.ts'
import type { PastPart } from '../../core/prompt/past.ts'
import type { MessageRecord } from '../../store/conversations/records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { scanEvents } from '../base/events.ts'

/** More than fits into the context window of any model. */
const KEPT_CHARS = 8_000_000

interface Output {
  text: string
  missing: number
}

export class WorkLog {
  readonly #entries: (string | ToolCall)[] = []
  readonly #outputs = new Map<ToolCall, Output>()
  #chars = 0

  say(text: string): void {
    this.#entries.push(text)
  }

  begin(tool: ToolCall): void {
    this.#entries.push(tool)
  }

  end(tool: ToolCall, content: unknown): void {
    const text = resultText(content)
    const kept = text.slice(0, KEPT_CHARS)
    this.#outputs.set(tool, { text: kept, missing: text.length - kept.length })
    this.#chars += kept.length
    for (const output of this.#outputs.values()) {
      if (this.#chars <= KEPT_CHARS) break
      this.#chars -= output.text.length
      output.missing += output.text.length
      output.text = ''
    }
  }

  /** Oldest first. */
  steps(): PastPart[] {
    return this.#entries.map((entry) => {
      if (typeof entry === 'string') return { kind: 'text', text: entry }
      const { text, missing } = this.#outputs.get(entry) ?? { text: '', missing: 0 }
      return stepOf(entry, text, missing)
    })
  }
}

const SAID_AND_DONE: readonly EventType[] = ['attempt-start', 'text-end', 'tool-start', 'tool-end', 'message']

/** All texts and tool calls of a run, from its events, with at most `room` characters of tool output. */
export async function readParts(
  store: Pick<Store, 'listEvents'>,
  { id }: Pick<RunRecord, 'id'>,
  room: number,
): Promise<{ parts: PastPart[]; chars: number }> {
  const clip = createClip({ resultChars: room, allChars: room, laterChars: 0 })
  const blocks: ContentBlock[] = []
  let makesRoom = false
  await scanEvents(store, id, { types: SAID_AND_DONE }, ({ body }) => {
    if (body.type === 'attempt-start') makesRoom = body.makesRoom === true
    else if (!makesRoom) blocks.push(...composeAnswer([body], clip))
  })
  const parts = toParts(blocks)
  return { parts, chars: parts.reduce((sum, part) => sum + charsOf(part), 0) }
}

const charsOf = (part: PastPart) =>
  part.kind === 'text' ? part.text.length : part.input.length + part.output.length

/**
 * Returns the messages with complete tool output, up to `room` characters, newest first. A stored message holds only
 * the beginning of a long result; the events of its run have all of it.
 */
export async function loadResults(
  store: Pick<Store, 'listEvents'>,
  messages: readonly MessageRecord[],
  room: number,
): Promise<MessageRecord[]> {
  const wanted = new Map<string, Set<string>>()
  let left = room
  for (const { runId, blocks } of messages.toReversed()) {
    for (const block of blocks) {
      if (block.type === 'text') left -= block.text.length
      if (block.type !== 'tool-result') continue
      const { text, missing } = storedResult(block)
      left -= text.length + missing
      if (left < 0) break
      if (missing > 0 && runId) wanted.set(runId, (wanted.get(runId) ?? new Set()).add(block.toolUseId))
    }
    if (left < 0) break
  }
  const whole: MessageRecord[] = []
  for (const message of messages) {
    const ids = message.runId && message.role === 'assistant' ? wanted.get(message.runId) : undefined
    whole.push(ids && message.runId ? await withResults(store, message, message.runId, ids) : message)
  }
  return whole
}

async function withResults(
  store: Pick<Store, 'listEvents'>,
  message: MessageRecord,
  runId: NonNullable<MessageRecord['runId']>,
  ids: ReadonlySet<string>,
): Promise<MessageRecord> {
  const found = new Map<string, unknown>()
  await scanEvents(store, runId, { types: ['tool-end'] }, ({ body }) => {
    if (body.type === 'tool-end' && ids.has(body.toolUseId)) found.set(body.toolUseId, body.content)
  })
  const blocks = message.blocks.map((block) => {
    if (block.type !== 'tool-result' || !found.has(block.toolUseId)) return block
    const { clipped: _, ...rest } = block
    return { ...rest, content: found.get(block.toolUseId) }
  })
  return { ...message, blocks }
}
