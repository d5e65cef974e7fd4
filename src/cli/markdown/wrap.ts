/** Wraps styled text at the width of a terminal. Lines are broken at spaces and between Chinese, Japanese and Korean characters. */
import { columnsOf } from '../terminal/columns.ts'

export interface Span {
  text: string
  paint: (text: string) => string
}

export interface Line {
  /** With styles. */
  text: string
  columns: number
}

export interface WrapOptions {
  /** Columns that are already used in the first line. */
  column?: number
  /** Whether a word that is wider than a line is split. Otherwise the terminal wraps it, so that it can be copied whole. */
  split?: boolean
}

const CLOSING = '、。，．！？：；）」』】》〉］'
const WIDE = '\\u2e80-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\uff01-\\uff60\\u{20000}-\\u{3ffff}'
/** A line break, spaces, a character behind which a line may be broken, or the part of a word. */
const PART = new RegExp(
  `(\\n)|([^\\S\\n]+)|((?![${CLOSING}])[${WIDE}][${CLOSING}]*)|(?:(?![${WIDE}])\\S|[${CLOSING}])+`,
  'gu',
)

/** Spaces at the start of a line are dropped, others are kept. There is at least one line. */
export function wrap(spans: readonly Span[], width: number, options: WrapOptions = {}): Line[] {
  const lines: Line[] = []
  let line: Span[] = []
  let column = options.column ?? 0
  let word: Span[] = []
  let gap: Span | null = null
  let mayBreak = false

  const endLine = () => {
    lines.push({ text: paintAll(line), columns: column })
    line = []
    column = 0
    gap = null
  }
  const put = (part: Span) => {
    line.push(part)
    column += columnsOf(part.text)
  }
  const endWord = () => {
    if (word.length === 0) return
    const needed = columnsOf(word.map(({ text }) => text).join(''))
    if (mayBreak && column > 0 && column + columnsOf(gap?.text ?? '') + needed > width) endLine()
    if (gap && column > 0) put(gap)
    if (options.split && needed > width) putInRows(word)
    else word.forEach(put)
    word = []
    gap = null
    mayBreak = false
  }
  const putInRows = (parts: readonly Span[]) => {
    for (const { text, paint } of parts) {
      for (const char of text) {
        if (column > 0 && column + columnsOf(char) > width) endLine()
        put({ text: char, paint })
      }
    }
  }

  for (const { text, paint } of spans) {
    for (const [part, newline, space, wide] of text.matchAll(PART)) {
      if (newline || space || wide) endWord()
      if (newline) endLine()
      else if (space) gap = { text: space, paint }
      else word.push({ text: part, paint })
      if (space || wide) mayBreak = true
      if (wide) {
        endWord()
        mayBreak = true
      }
    }
  }
  endWord()
  endLine()
  return lines
}

/** Neighbours with the same style are painted together. */
function paintAll(parts: readonly Span[]): string {
  let painted = ''
  for (let at = 0; at < parts.length; ) {
    const { paint } = parts[at] as Span
    let text = ''
    while (parts[at]?.paint === paint) text += parts[at++]?.text
    painted += paint(text)
  }
  return painted
}
