/**
 * How many columns of a terminal a text takes.
 *
 * Terminals disagree about emoji that are joined from several characters. What has to fit is therefore measured one
 * character at a time: that is never less than what any terminal shows. `string-width`, which measures joined characters,
 * is not used here: loading it takes longer than sending a request, and every command that follows a run loads this file.
 */
import { eastAsianWidth } from 'get-east-asian-width'

/** The beginning of a line that fits into `columns`, with an ellipsis if it was cut. */
export function fitColumns(text: string, columns: number): string {
  let used = 0
  let kept = ''
  for (const char of text) {
    used += widthOfChar(char)
    if (used > columns) return `${kept}…`
    if (used < columns) kept += char
  }
  return text
}

/** The beginning and the end of a line that fit into `columns`, with an ellipsis between them if it was cut. */
export function cutColumns(text: string, columns: number): string {
  if (fitColumns(text, columns) === text) return text
  const end = Math.floor((columns - 1) / 2)
  const kept: string[] = []
  let used = 0
  for (const char of [...text].reverse()) {
    used += widthOfChar(char)
    if (used > end) break
    kept.unshift(char)
  }
  return `${fitColumns(text, columns - end)}${kept.join('')}`
}

/** The line of an input that fits into `columns`, with a mark at the cursor, which is always visible. */
export function fitInput(before: string, after: string, columns: number): string {
  const whole = `${before}▏${after}`
  if (fitColumns(whole, columns) === whole) return whole
  const kept: string[] = []
  let used = 2
  for (const char of [...before].reverse()) {
    used += widthOfChar(char)
    if (used > (columns * 3) / 4) {
      kept.unshift('…')
      break
    }
    kept.unshift(char)
  }
  return fitColumns(`${kept.join('')}▏${after}`, columns)
}

/** Never less than what any terminal needs. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let columns = 0
  for (const char of text) columns += widthOfChar(char)
  return columns
}

const ASCII = /^[\x20-\x7e]*$/

/** The rows that a line takes on a terminal of this width. */
export function wrapColumns(line: string, columns: number): string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const char of line) {
    const width = widthOfChar(char)
    if (used + width > columns) {
      rows.push(row)
      row = ''
      used = 0
    }
    row += char
    used += width
  }
  return [...rows, row]
}

/** Characters of which every terminal shows one column: Latin, Greek, Cyrillic, dashes, quotes and dots of prose. */
const SURE = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u0370-\u03ff\u0410-\u044f\u2010-\u2022\u2026]*$/

/** How many columns the line has that ends in `text`, after `before` columns of it; null if terminals may disagree. */
export function lengthAfter(before: number | null, text: string): number | null {
  const newline = text.lastIndexOf('\n')
  const start = newline === -1 ? before : 0
  const rest = text.slice(newline + 1)
  return start === null || !SURE.test(rest) ? null : start + rest.length
}

/** Characters that take no column of their own. */
const WITHOUT_WIDTH =
  /^[\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Surrogate}]$/u

/** The columns of one character, as `string-width` counts them. */
export function widthOfChar(char: string): number {
  if (char >= ' ' && char <= '~') return 1
  return WITHOUT_WIDTH.test(char) ? 0 : eastAsianWidth(char.codePointAt(0) ?? 0)
}
