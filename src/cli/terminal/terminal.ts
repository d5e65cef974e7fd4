/**
 * Text for a terminal. Colours are used only on a terminal, and not if NO_COLOR is set. What agents and
 * users wrote is made harmless: escape sequences could rewrite the screen or the clipboard.
 */
import type { Environment } from '../../config/environment.ts'
import type { TerminalOut } from '../base/context.ts'
import { harmless } from '../base/output.ts'

export interface Style {
  dim: (text: string) => string
  bold: (text: string) => string
  italic: (text: string) => string
  red: (text: string) => string
  green: (text: string) => string
  yellow: (text: string) => string
  cyan: (text: string) => string
  /** Whether the functions above add anything. */
  coloured: boolean
  /** Makes text that we did not write harmless (output.ts); unchanged if the stream is not a terminal. */
  safe: (text: string) => string
}

const WIDTH_WITHOUT_TERMINAL = 120

export function styleFor(stream: TerminalOut, env: Environment): Style {
  const isTerminal = stream.isTTY === true
  const coloured = isTerminal && !env.NO_COLOR && env.TERM !== 'dumb'
  const paint = (code: number, end: number) => (text: string) =>
    coloured ? `\u001b[${code}m${text}\u001b[${end}m` : text
  return {
    dim: paint(2, 22),
    bold: paint(1, 22),
    italic: paint(3, 23),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
    coloured,
    safe: isTerminal ? harmless : (text) => text,
  }
}

export function widthOf(stream: TerminalOut): number {
  // Some terminals report a width of 0 before they know it.
  return stream.columns || WIDTH_WITHOUT_TERMINAL
}

/** The beginning of a text, on one line. Long texts are cut before whitespace is replaced. */
export function firstLine(text: string, maxChars: number): string {
  const start = text
    .slice(0, maxChars * 4)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return start.length <= maxChars ? start : `${start.slice(0, Math.max(0, maxChars - 1))}…`
}
