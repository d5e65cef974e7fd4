/** Searching in lists: each word of the search must be part of one of the columns, in any case. */
import { type RawBuilder, sql } from 'kysely'

/** A condition on these columns; null: there is nothing to look for. */
export function matchesWords(
  text: string | undefined,
  columns: readonly string[],
): RawBuilder<boolean> | null {
  const words = (text ?? '').split(/\s+/).filter((word) => word !== '')
  if (words.length === 0) return null
  return sql.join(
    words.map((word) => hasWord(word, columns)),
    sql` and `,
  )
}

function hasWord(word: string, columns: readonly string[]): RawBuilder<boolean> {
  const pattern = `%${word.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  const found = columns.map((column) => sql`lower(${sql.ref(column)}) like ${pattern} escape '\\'`)
  return sql<boolean>`(${sql.join(found, sql` or `)})`
}
