/** The tables of the pages: a row of headings, rows of one height, and one column that takes the room that is left. */
import type { ReactNode } from 'react'

export interface Column<Row> {
  name: string
  /** Default: the name. */
  heading?: ReactNode
  cell: (row: Row) => ReactNode
  /** Numbers and times are on the right, so that they can be compared. */
  right?: boolean
  /** Takes the room that is left, and cuts off its text. */
  wide?: boolean
  muted?: boolean
  /** Not on screens that are narrower than this. */
  from?: 'sm' | 'md' | 'lg'
  /** The order of the rows, if they are sorted by this column. */
  sorted?: 'ascending' | 'descending' | 'none'
  /** The cell names its row. */
  header?: boolean
}

const FROM = { sm: 'max-sm:hidden', md: 'max-md:hidden', lg: 'max-lg:hidden' } as const

const styleOf = <Row,>({ right, wide, from }: Column<Row>) =>
  `px-2 first:pl-3 last:pr-3 ${right ? 'text-right whitespace-nowrap' : 'text-left'} ${wide ? 'w-full max-w-0 min-w-40' : ''} ${from ? FROM[from] : ''}`

export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
}) {
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-surface">
      <table className="w-full text-small" aria-label={label}>
        <thead className="text-label text-muted">
          <tr className="h-8 border-b border-line">
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                aria-sort={column.sorted}
                className={`font-normal whitespace-nowrap ${styleOf(column)}`}
              >
                {column.heading ?? column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={keyOf(row)} className="h-8 hover:bg-raised max-sm:h-10">
              {columns.map((column) => {
                const style = `${styleOf(column)} ${column.wide ? 'truncate max-sm:py-1 max-sm:whitespace-normal' : ''} ${column.muted ? 'text-muted' : ''}`
                return column.header ? (
                  <th key={column.name} scope="row" className={`relative font-medium ${style}`}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.name} className={style}>
                    {column.cell(row)}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
