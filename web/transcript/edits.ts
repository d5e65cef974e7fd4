/**
 * The edits in the input of a tool that changes files, and their differences. The input is written by a model, and the
 * time to compare two texts grows with the square of their differences: comparing has limits, so that it cannot stop
 * the page.
 */
import { type StructuredPatchHunk, structuredPatch } from 'diff'

export interface Edit {
  before: string
  after: string
}

export interface LineCounts {
  added: number
  removed: number
}

/** More changed lines than this are not compared. */
const MAX_CHANGED_LINES = 1000
/** Lines that repeat take longer than their number says. */
const MAX_COMPARE_MS = 500
/** Longer edits are compared only when they are unfolded. */
const MAX_COUNTED_CHARS = 10_000

export function editsOf(input: unknown): Edit[] {
  if (typeof input !== 'object' || input === null) return []
  const { old_string, new_string, edits } = input as Record<string, unknown>
  if (typeof old_string === 'string' && typeof new_string === 'string') {
    return [{ before: old_string, after: new_string }]
  }
  return Array.isArray(edits) ? edits.flatMap(editsOf) : []
}

/** null: there are too many differences. */
export function compare({ before, after }: Edit): StructuredPatchHunk[] | null {
  const limits = { maxEditLength: MAX_CHANGED_LINES, timeout: MAX_COMPARE_MS }
  return (
    structuredPatch('', '', before, after, undefined, undefined, { context: 3, ...limits })?.hunks ?? null
  )
}

export function countOf(hunks: readonly StructuredPatchHunk[]): LineCounts {
  const lines = hunks.flatMap((hunk) => hunk.lines)
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  }
}

/** For the folded line of a tool call. null: there is no edit, or counting would take too long. */
export function countEdits(edits: readonly Edit[]): LineCounts | null {
  const chars = edits.reduce((sum, { before, after }) => sum + before.length + after.length, 0)
  if (edits.length === 0 || chars > MAX_COUNTED_CHARS) return null
  const total = { added: 0, removed: 0 }
  for (const edit of edits) {
    const hunks = compare(edit)
    if (hunks === null) return null
    const { added, removed } = countOf(hunks)
    total.added += added
    total.removed += removed
  }
  return total
}
