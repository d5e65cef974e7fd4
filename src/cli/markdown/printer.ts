/**
 * Prints Markdown that arrives in pieces on a terminal, without repainting. Its functions return what is to be printed.
 *
 * The unit is a line of the source, printed when it is complete. Two things are held back longer: the rows of a table until
 * its end, because the widths depend on all of them, and a line with a mark that may be closed in a later line of the same
 * paragraph. So the result depends on the text alone, not on its pieces.
 *
 * A line takes long to arrive if it is a paragraph. `showWords` prints the words of it that cannot change any more; the
 * line is then open, and is continued where it was left. `showAll` prints everything, for a pause or before other output.
 */
import type { Style } from '../terminal/terminal.ts'
import { classify, closes, type Fence, type LineKind, type TextLine, unquote } from './line.ts'
import { findOpenMark, parseInline, parseTable } from './parse.ts'
import { tableLines } from './table.ts'
import { type Span, wrap } from './wrap.ts'

export interface MarkdownPrinter {
  add: (text: string) => string
  /** Shows words whose style is certain. */
  showWords: () => string
  /** Shows everything so far. With `breakLine`, the output ends at the start of a line. */
  showAll: (breakLine: boolean) => string
  /** Shows the rest. The next text is a document of its own. */
  end: () => string
  /** Whether something is held back. */
  hasPending: () => boolean
}

export interface PrinterOptions {
  style: Style
  width: () => number
}

/** A line of which the beginning is on the screen. */
interface OpenLine {
  line: TextLine | null
  column: number
}

const LEAST_WIDTH = 20
const RULE_COLUMNS = 40
const CODE_INDENT = '    '
/** Longer text is shown even if a mark in it is open. */
const MOST_HELD = 300
const plain = (text: string) => text

export function createMarkdownPrinter({ style, width }: PrinterOptions): MarkdownPrinter {
  /** The part of the current line that is not shown yet. */
  let rest = ''
  let open: OpenLine | null = null
  let fence: Fence | null = null
  let rows: string[] = []
  /** A line with an open mark, and what is on the screen of it. */
  let held: { line: TextLine; from: OpenLine | null } | null = null
  let listIndent = 0
  let started = false
  let gap = false

  const room = () => Math.max(LEAST_WIDTH, width())
  const quotes = (depth: number) => (depth === 0 ? '' : style.dim('│ '.repeat(depth)))

  /** An empty line of the source is printed before what follows it. */
  const begin = (text: string) => {
    const before = gap && started ? '\n' : ''
    gap = false
    started = true
    return before + text
  }

  /** Lays out text of a line, after what is on the screen of it. */
  const layOut = (line: TextLine, text: string, column: number, first: string) => {
    const paint = line.kind === 'heading' ? style.bold : plain
    const indent = startOf(line).length
    const columns = Math.max(LEAST_WIDTH / 2, room() - line.depth * 2 - indent)
    // The parser drops spaces at the start, which separate the text from what is on the screen.
    const space: Span[] = /^\s/.test(text) ? [{ text: ' ', paint }] : []
    const lines = wrap([...space, ...parseInline(text, style, paint)], columns, { column })
    const hang = quotes(line.depth) + ' '.repeat(indent)
    const before = column > 0 ? '' : quotes(line.depth) + first
    return {
      text: lines.map(({ text }, at) => ((at === 0 ? before : hang) + text).trimEnd()).join('\n'),
      column: lines.at(-1)?.columns ?? 0,
    }
  }
  /** The mark of a heading is replaced by its style. */
  const startOf = ({ kind, start }: TextLine) => (kind === 'heading' && style.coloured ? '' : start)

  const startLine = (line: TextLine) => layOut(line, line.text, 0, startOf(line))
  const continueLine = ({ line, column }: OpenLine, text: string) =>
    line
      ? layOut(line, text, column, ' '.repeat(startOf(line).length))
      : { text: style.safe(text), column: column + text.length }
  const printText = (line: TextLine, from: OpenLine | null) =>
    from ? `${continueLine(from, line.text).text}\n` : begin(`${startLine(line).text}\n`)

  const release = (): string => {
    const table = rows.length > 1 ? parseTable(rows.join('\n')) : null
    const lines = table ? tableLines(table, style, room()) : rows.map(style.safe)
    const shown = rows.length === 0 ? '' : begin(lines.map((line) => `${line}\n`).join(''))
    rows = []
    const text = held
    held = null
    return shown + (text ? printText(text.line, text.from) : '')
  }

  const codeLine = (line: string, { depth, indent }: Fence) => {
    const text = line.replace(new RegExp(`^ {0,${indent}}`), '')
    const before = `${' '.repeat(indent)}${CODE_INDENT}`
    return begin(quotes(depth) + (text === '' ? '' : before + style.safe(text)))
  }

  const takeLine = (raw: string): string => {
    const source = raw.replace(/\r$/, '')
    if (open) {
      const before = open
      open = null
      if (before.column === 0 && source.trim() === '') return ''
      if (before.line) return takeText({ ...before.line, text: source }, before)
      return `${continueLine(before, source).text}\n`
    }
    if (fence) {
      const { depth, text } = unquote(source, fence.depth)
      if (depth === fence.depth) {
        if (!closes(fence, text)) return `${codeLine(text, fence)}\n`
        fence = null
        return ''
      }
      fence = null
    }
    return takeBlock(classify(source, listIndent))
  }

  const takeBlock = (line: LineKind): string => {
    if (line.kind === 'row') {
      const before = held ? release() : ''
      rows.push(line.text)
      return before
    }
    if (line.kind === 'text' && held?.line.depth === line.depth && line.text !== '') {
      const joined = { ...held.line, text: `${held.line.text}\n${line.text}` }
      const { from } = held
      held = null
      return takeText(joined, from)
    }
    const before = release()
    return before + takeOther(line)
  }

  const takeOther = (line: Exclude<LineKind, { kind: 'row' }>): string => {
    switch (line.kind) {
      case 'blank':
        gap = true
        return ''
      case 'rule':
        listIndent = 0
        return begin(`${quotes(line.depth)}${style.dim('─'.repeat(Math.min(RULE_COLUMNS, room())))}\n`)
      case 'fence':
        fence = line.fence
        return line.item ? printText({ ...line.item, text: '' }, null) : ''
      case 'code':
        return begin(`${quotes(line.depth)}${style.safe(line.text)}\n`)
      default:
        enterList(line)
        return takeText(line, null)
    }
  }

  const enterList = (line: TextLine) => {
    if (line.kind === 'item') listIndent = line.indent
    else if (line.indent < listIndent) listIndent = 0
  }

  const takeText = (line: TextLine, from: OpenLine | null): string => {
    if (line.kind === 'heading') return printText({ ...line, text: line.text.replace(/\s+#+\s*$/, '') }, from)
    if (line.text.length > MOST_HELD || findOpenMark(line.text) === null) return printText(line, from)
    held = { line, from }
    return ''
  }

  /** Shows the beginning of the current line, which becomes open. */
  const showStart = (length: (text: string) => number): string => {
    if (rest.trim() === '') return ''
    if (open) {
      const part = rest.slice(0, length(rest))
      if (part === '') return ''
      const { text, column } = continueLine(open, part)
      rest = rest.slice(part.length)
      open = { ...open, column }
      return text
    }
    if (fence) {
      if (closes(fence, unquote(rest, fence.depth).text)) return ''
      const shown = codeLine(unquote(rest, fence.depth).text, fence)
      open = { line: null, column: 1 }
      rest = ''
      return shown
    }
    const line = classify(rest, listIndent)
    if (!('start' in line)) return ''
    const part = { ...line, text: line.text.slice(0, length(line.text)) }
    if (part.text === '') return ''
    rest = line.text.slice(part.text.length)
    enterList(part)
    const { text, column } = startLine(part)
    open = { line: part, column }
    return begin(text)
  }

  const showAll = (breakLine: boolean): string => {
    const shown = release() + showStart((text) => text.length)
    if (!breakLine || !open || open.column === 0) return shown
    open.column = 0
    return `${shown}\n`
  }

  return {
    add: (text) => {
      let shown = ''
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) shown += takeLine(line)
      return shown
    },
    showWords: () => (fence || held || rows.length > 0 ? '' : showStart(certainLength)),
    showAll,
    end: () => {
      let shown = rest === '' ? '' : takeLine(rest)
      shown += release()
      if (open && open.column > 0) shown += '\n'
      rest = ''
      open = null
      fence = null
      listIndent = 0
      gap = false
      started = false
      return shown
    },
    hasPending: () => rows.length > 0 || held !== null || rest.trim() !== '',
  }
}

/** How much of a text ends at a space that no open mark is before. Without letters it may become another kind of line. */
function certainLength(text: string): number {
  const lastSpace = (until: number) => Math.max(0, text.slice(0, until).search(/\s+\S*$/))
  const end = lastSpace(text.length)
  const mark = text.length > MOST_HELD ? null : findOpenMark(text.slice(0, end))
  const certain = mark === null ? end : lastSpace(mark)
  return /\p{L}/u.test(text.slice(0, certain)) ? certain : 0
}
