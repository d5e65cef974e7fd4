/**
 * Columns under their headings, as wide as what is in them; the last one takes the rest of the terminal's width.
 *
 * Where that leaves too little for the last column, a table is narrowed step by step until it fits: ids are shortened,
 * then columns are left out that matter least, then the widest cells are cut in the middle. `--json` has everything.
 */
import stringWidth from 'string-width'
import { shortId } from '../../contract/reference.ts'
import { cutColumns, fitColumns } from './columns.ts'

/** The least width of the last column, if it has that much to show: with whole ids, and with short ones. */
const LAST_COLUMNS_BESIDE_IDS = 30
const LAST_COLUMNS = 20
/** Cells are not cut below this width. */
const LEAST_COLUMNS = 12
const LEAST_LAST_COLUMNS = 10
const GAP = 2

/** The columns that can be left out, the least important one first. The first and the last column always stay. */
const DISPENSABLE = [
  'BY',
  'TIER',
  'AGENT',
  'TRIGGER',
  'TURNS',
  'TOOK',
  'SIZE',
  'RUN',
  'CONTEXT',
  'LAST',
  'AGE',
  'COST',
]

type Rows = readonly (readonly string[])[]

export function formatTable(headings: readonly string[], rows: Rows, maxWidth: number): string[] {
  const lines = narrow([headings, ...rows], maxWidth)
  const widths = widthsOf(lines)
  const last = widths.length - 1
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP, 0)
  const room = Math.max(LEAST_LAST_COLUMNS, maxWidth - before)
  return lines.map((cells) =>
    cells
      .map((cell, column) => (column === last ? fitCell(cell, room) : padColumns(cell, widths[column] ?? 0)))
      .join(' '.repeat(GAP))
      .trimEnd(),
  )
}

function narrow(given: Rows, maxWidth: number): Rows {
  if (fits(given, maxWidth, LAST_COLUMNS_BESIDE_IDS)) return given
  let lines: Rows = given.map((cells) => cells.map((cell) => (WHOLE_ID.test(cell) ? shortId(cell) : cell)))
  for (const heading of DISPENSABLE) {
    if (fits(lines, maxWidth)) return lines
    lines = without(lines, heading)
  }
  return cutWidest(lines, maxWidth)
}

const WHOLE_ID = /^[a-z]{3}_[0-9A-Z]{26}$/

function fits(lines: Rows, maxWidth: number, lastColumns = LAST_COLUMNS): boolean {
  return excessOf(widthsOf(lines), maxWidth, lastColumns) <= 0
}

function excessOf(widths: readonly number[], maxWidth: number, lastColumns: number): number {
  const last = Math.min(widths.at(-1) ?? 0, lastColumns)
  return widths.slice(0, -1).reduce((sum, width) => sum + width + GAP, last) - maxWidth
}

function without(lines: Rows, heading: string): Rows {
  const at = lines[0]?.indexOf(heading) ?? -1
  if (at <= 0 || at === (lines[0]?.length ?? 0) - 1) return lines
  return lines.map((cells) => cells.toSpliced(at, 1))
}

function cutWidest(lines: Rows, maxWidth: number): Rows {
  const widths = widthsOf(lines)
  for (let excess = excessOf(widths, maxWidth, LAST_COLUMNS); excess > 0; excess--) {
    const widest = Math.max(...widths.slice(0, -1))
    if (widest <= LEAST_COLUMNS) break
    widths[widths.indexOf(widest)] = widest - 1
  }
  const last = widths.length - 1
  return lines.map((cells) =>
    cells.map((cell, column) => (column === last ? cell : cutColumns(cell, widths[column] ?? 0))),
  )
}

const widthsOf = (lines: Rows) =>
  (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => stringWidth(cells[column] ?? ''))))

const padColumns = (text: string, columns: number) =>
  text + ' '.repeat(Math.max(0, columns - stringWidth(text)))

/** The end of a path says more than its middle. */
const fitCell = (cell: string, columns: number) =>
  /^[~/]\S*$/.test(cell) ? cutColumns(cell, columns) : fitColumns(cell, columns)
