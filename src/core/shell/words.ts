/** Words of a shell text: which are written out, and what the others have in them. */
import type { Word, WordPart } from 'unbash'

export type PlainWord = { text: string; glob: boolean } | { why: string }

/** A word is plain if the shell would pass it on as it is written, but for its quotes and for names of files. */
export function plainWord(word: Word): PlainWord {
  let glob = false
  const visit = (part: WordPart): string | undefined => {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return undefined
      case 'Glob':
        glob = true
        return firstOf(part.parts ?? [], visit)
      case 'DoubleQuoted':
        return firstOf(part.parts, visit)
      case 'BraceExpansion':
        return `has ${shorten(part.text)}, which becomes several words`
      case 'ExtendedGlob':
        return `has ${shorten(part.text)}, which shells read in different ways`
      default:
        return `has ${shorten(part.text)}, which only the running shell knows`
    }
  }
  const why = firstOf(word.parts ?? [], visit)
  if (why !== undefined) return { why }
  // A program never sees what follows a NUL byte.
  if (word.value.includes('\0')) return { why: 'has a NUL byte' }
  return { text: word.value, glob }
}

function firstOf<T>(parts: readonly T[], find: (part: T) => string | undefined): string | undefined {
  for (const part of parts) {
    const found = find(part)
    if (found !== undefined) return found
  }
  return undefined
}

const LONGEST_SHOWN = 120

/** The first line, cut if it is long. */
export function shorten(text: string): string {
  const [line = ''] = text.split('\n', 1)
  return line.length < text.length || line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line
}
