/**
 * Decides which tool results of a history still describe the present. A result about a file (it was read or written)
 * holds as long as the file has the content that it had when the result came. Any other result holds for a limited time.
 * The block of a stale result stays, because its call stays too, but its content is replaced by the reason.
 */
import type { ContentBlock } from '../../contract/conversation.ts'
import type { DroppedResult, HistoryMessage } from '../../contract/query.ts'
import { formatSpan } from '../span.ts'

export interface ResultFacts {
  /** The files that a call was about, with their hashes when the result came and now. null: no such file. */
  filesOf: (toolUseId: string) => readonly { path: string; before: string | null; now: string | null }[]
  now: Date
  /** How long a result that is not about a file holds. */
  maxAgeMs: number
}

export function dropStale(
  messages: readonly HistoryMessage[],
  facts: ResultFacts,
): { messages: HistoryMessage[]; dropped: DroppedResult[] } {
  const tools = new Map<string, string>()
  const dropped: DroppedResult[] = []
  const judge = (block: ContentBlock, at: Date | null): ContentBlock => {
    if (block.type === 'tool-use') tools.set(block.toolUseId, block.name)
    if (block.type !== 'tool-result') return block
    const { toolUseId, isError } = block
    const stale = findStaleness(toolUseId, at, facts)
    if (stale === null) return block
    dropped.push({ toolUseId, tool: tools.get(toolUseId) ?? 'unknown', ...stale })
    return { type: 'tool-result', toolUseId, isError, content: `[left out: ${stale.reason}]` }
  }
  return {
    messages: messages.map((message) => {
      const at = instantOf(message.at)
      return { ...message, blocks: message.blocks.map((block) => judge(block, at)) }
    }),
    dropped,
  }
}

function findStaleness(
  toolUseId: string,
  at: Date | null,
  { filesOf, now, maxAgeMs }: ResultFacts,
): Pick<DroppedResult, 'path' | 'reason'> | null {
  const files = filesOf(toolUseId)
  const changed = files.find((file) => file.before !== file.now)
  if (changed) {
    const what = changed.now === null ? 'does not exist any more' : 'has changed since'
    return { path: changed.path, reason: `${changed.path} ${what}` }
  }
  if (files.length > 0) return null
  if (at === null) return { reason: 'it is not known when it came' }
  const ageMs = now.getTime() - at.getTime()
  return ageMs > maxAgeMs ? { reason: `it is ${formatSpan(ageMs)} old` } : null
}

function instantOf(text: string | null): Date | null {
  const at = new Date(text ?? Number.NaN)
  return Number.isNaN(at.getTime()) ? null : at
}
