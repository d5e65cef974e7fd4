/** Lays out a table so that it fits the width: cells are wrapped, and if there are too many columns, each row is a list. */
import type { Table } from 'mdast'
import stringWidth from 'string-width'
import { columnsOf } from '../terminal/columns.ts'
import type { Style } from '../terminal/terminal.ts'
import { spansOf } from './parse.ts'
import { type Line, type Span, wrap } from './wrap.ts'

/** Columns are not made narrower than this. */
const LEAST_COLUMNS = 8
const SEPARATOR = ' │ '
const plain = (text: string) => text

type Row = Span[][]

export function tableLines(table: Table, style: Style, width: number): string[] {
  const [head = [], ...rows] = table.children.map((row, index): Row => {
    const paint = index === 0 ? style.bold : plain
    return row.children.map((cell) => spansOf(cell.children, style, paint))
  })
  const widths = fitWidths([head, ...rows], width)
  if (widths === null) return recordLines(head, rows.length === 0 ? [[]] : rows, width)
  const rule = widths.map((columns) => '─'.repeat(columns)).join('─┼─')
  const print = (row: Row) => rowLines(row, widths, style, table.align ?? [])
  return [...print(head), style.dim(rule), ...rows.flatMap(print)]
}

/** The width of each column, or null if they do not fit. */
function fitWidths(rows: readonly Row[], width: number): number[] | null {
  const count = rows[0]?.length ?? 0
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => columnsOf(textOf(row[column] ?? [])))),
  )
  const room = width - SEPARATOR.length * (count - 1)
  for (let excess = widths.reduce((sum, columns) => sum + columns, 0) - room; excess > 0; excess--) {
    const widest = Math.max(...widths)
    if (widest <= LEAST_COLUMNS) return null
    widths[widths.indexOf(widest)] = widest - 1
  }
  return widths
}

const textOf = (cell: readonly Span[]) => cell.map(({ text }) => text).join('')

function rowLines(
  row: Row,
  widths: readonly number[],
  style: Style,
  align: NonNullable<Table['align']>,
): string[] {
  const cells = widths.map((columns, at) => wrap(row[at] ?? [], columns, { split: true }))
  const height = Math.max(...cells.map((lines) => lines.length))
  return Array.from({ length: height }, (_, at) =>
    cells
      .map((lines, column) => pad(lines[at], widths[column] ?? 0, align[column] ?? null))
      .join(style.dim(SEPARATOR))
      .trimEnd(),
  )
}

function pad(line: Line | undefined, columns: number, align: string | null): string {
  // Here the columns count that most terminals show, so that the separators are below each other.
  const missing = Math.max(0, columns - stringWidth(line?.text ?? ''))
  const before = align === 'right' ? missing : align === 'center' ? Math.floor(missing / 2) : 0
  return `${' '.repeat(before)}${line?.text ?? ''}${' '.repeat(missing - before)}`
}

/** One line per cell, after its heading. */
function recordLines(head: Row, rows: readonly Row[], width: number): string[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...head.flatMap((heading, at) => {
      const name = textOf(heading) === '' ? [] : [...heading, { text: ': ', paint: plain }]
      return wrap([...name, ...(row[at] ?? [])], width).map((line) => line.text)
    }),
  ])
}
