/** Columns under their headings, as wide as what is in them; the last one is cut to the width of the terminal. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  maxWidth: number,
): string[] {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const last = headings.length - 1
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0)
  const room = Math.max(10, maxWidth - before)
  const format = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === last ? cut(cell, room) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  return [format(headings), ...rows.map(format)]
}

const cut = (text: string, room: number) => (text.length <= room ? text : `${text.slice(0, room - 1)}…`)
