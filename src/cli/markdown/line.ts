/** The kinds of lines in Markdown, recognised by how they begin. */

export interface Fence {
  mark: string
  /** Columns before the mark, which the lines of code have, too. */
  indent: number
  /** How many quotes the code is in. */
  depth: number
}

export interface TextLine {
  kind: 'heading' | 'item' | 'text'
  /** How many quotes the line is in. */
  depth: number
  /** Columns before the text, the mark of a list item included. */
  indent: number
  /** The characters that are printed before the text, as wide as `indent`. */
  start: string
  text: string
}

export type LineKind =
  | { kind: 'blank' }
  | { kind: 'rule'; depth: number }
  | { kind: 'fence'; fence: Fence; item: TextLine | null }
  | { kind: 'code'; depth: number; text: string }
  | { kind: 'row'; text: string }
  | TextLine

const QUOTE = /^ {0,3}> ?/
const FENCE = /^(\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?)(`{3,}(?![^`]*`)|~{3,})/
const HEADING = /^ {0,3}(#{1,6})(?:\s+|$)/
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+)(?=\S)/
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/
const ROW = /^ {0,3}\|/

/** `listIndent`: columns before the text of the list item that the line may belong to; 0 outside of lists. */
export function classify(line: string, listIndent: number): LineKind {
  const { depth, text: inside } = unquote(line, Number.POSITIVE_INFINITY)
  const text = inside.replace(/^\s+/, (space) => space.replaceAll('\t', '    '))
  if (text.trim() === '') return depth === 0 ? { kind: 'blank' } : textLine('text', depth, '', '')
  const indent = text.search(/\S/)
  if (indent >= listIndent + 4) return { kind: 'code', depth, text }
  const [, before = '', mark] = FENCE.exec(text) ?? []
  if (mark) {
    const item = before.trim() === '' ? null : itemLine(depth, `${before}…`)
    return { kind: 'fence', fence: { mark, indent: before.length, depth }, item }
  }
  if (RULE.test(text)) return { kind: 'rule', depth }
  if (depth === 0 && ROW.test(text)) return { kind: 'row', text }
  const heading = HEADING.exec(text)
  if (heading) return textLine('heading', depth, `${heading[1]} `, text.slice(heading[0].length))
  return itemLine(depth, text) ?? textLine('text', depth, text.slice(0, indent), text.slice(indent))
}

function itemLine(depth: number, text: string): TextLine | null {
  const [start, indent = '', mark = '', space = ''] = ITEM.exec(text) ?? []
  if (start === undefined) return null
  const bullet = /\d/.test(mark) ? mark : '•'
  return textLine('item', depth, `${indent}${bullet}${' '.repeat(space.length)}`, text.slice(start.length))
}

const textLine = (kind: TextLine['kind'], depth: number, start: string, text: string): TextLine => ({
  kind,
  depth,
  indent: start.length,
  start,
  text,
})

/** Whether the line ends the block of code. */
export function closes({ mark }: Fence, line: string): boolean {
  const text = line.trim()
  return text.startsWith(mark) && text === (mark[0] ?? '').repeat(text.length)
}

/** Removes the marks of at most `most` quotes. */
export function unquote(line: string, most: number): { depth: number; text: string } {
  let text = line
  let depth = 0
  while (depth < most && QUOTE.test(text)) {
    text = text.replace(QUOTE, '')
    depth++
  }
  return { depth, text }
}
