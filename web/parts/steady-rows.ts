/**
 * The rows in an order that does not change under the pointer: while it is over the list, or the keyboard is in it,
 * rows that are new above others are only counted, and shown when the person asks for them or leaves.
 */
export function steadyRows<Row>(
  rows: readonly Row[],
  shownBefore: readonly string[],
  keyOf: (row: Row) => string,
): { shown: Row[]; held: number } {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]))
  const kept = shownBefore.flatMap((key) => byKey.get(key) ?? [])
  const known = new Set(shownBefore)
  const lastKnown = rows.findLastIndex((row) => known.has(keyOf(row)))
  const after = rows.slice(lastKnown + 1)
  return { shown: [...kept, ...after], held: rows.length - kept.length - after.length }
}
