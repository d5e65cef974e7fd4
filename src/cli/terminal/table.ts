/** Columns under their headings, as wide as what is in them; the last one is cut to the width of the terminal. */
import stringWidth from 'string-width'
import { fitColumns, padColumns } from './columns.ts'

export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  maxWidth: number,
): string[] {
  const widths = headings.map((heading, column) =>
    Math.max(stringWidth(heading), ...rows.map((row) => stringWidth(row[column] ?? ''))),
  )
  const last = headings.length - 1
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0)
  const room = Math.max(10, maxWidth - before)
  const format = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === last ? fitColumns(cell, room) : padColumns(cell, widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [format(headings), ...rows.map(format)]
}
