/** A terminal's screen: what a person sees after all that was written to it, and where the cursor is. */
import { Writable } from 'node:stream'
import type { TerminalOut } from '../../src/cli/base/context.ts'

export interface Screen {
  stream: () => TerminalOut
  /** Without empty rows at the end. */
  rows: () => string[]
  /** How often the text was written. */
  written: (text: string) => number
  raw: () => string
}

export function createScreen(columns: number, height = 24): Screen {
  let raw = ''
  let rows: string[][] = [[]]
  let row = 0
  let column = 0

  const down = () => {
    row++
    rows[row] ??= []
    // What has scrolled off the top can be read, but no more be reached.
  }
  const put = (char: string) => {
    if (column === columns) {
      column = 0
      down()
    }
    const line = (rows[row] ??= [])
    while (line.length < column) line.push(' ')
    line[column] = char
    column++
  }
  const obey = (count: number, command: string | undefined) => {
    if (command === 'A') {
      // A terminal does not go above its top.
      row = Math.max(row - count, Math.max(0, rows.length - height))
      column = Math.min(column, columns - 1)
    } else if (command === 'C') column = Math.min(column + count, columns - 1)
    else if (command === 'K') rows[row]?.splice(column)
    else if (command === 'J') {
      rows[row]?.splice(column)
      rows = rows.slice(0, row + 1)
    } else if (command !== 'm') throw new Error(`unknown command ${command}`)
  }
  const write = (text: string) => {
    raw += text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the language of terminals
    for (const [part, count, command] of text.matchAll(/\u001b\[(\d*)([A-Za-z])|[\s\S]/gu)) {
      if (command !== undefined) obey(Number(count || 1), command)
      else if (part === '\r') column = 0
      else if (part === '\n') {
        // As terminals are set up: a new line begins at its start.
        column = 0
        down()
      } else put(part)
    }
  }
  return {
    stream: () =>
      Object.assign(
        new Writable({
          decodeStrings: false,
          write: (text: string, _, done) => {
            write(text)
            done()
          },
        }),
        { isTTY: true, columns },
      ),
    rows: () => {
      const lines = rows.map((line) => line.join('').trimEnd())
      while (lines.at(-1) === '') lines.pop()
      return lines
    },
    written: (text) => raw.split(text).length - 1,
    raw: () => raw,
  }
}
