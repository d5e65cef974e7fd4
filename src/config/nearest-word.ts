/** The known word that a mistyped one most likely stands for. Case, `-` and `_` do not count: `max_age` is `maxAge`. */
export function nearestWord(typed: string, known: readonly string[]): string | undefined {
  const plain = (word: string) => word.toLowerCase().replaceAll(/[-_]/g, '')
  const tolerated = Math.max(1, Math.floor(typed.length / 3))
  return known
    .map((word) => ({ word, distance: editDistance(plain(typed), plain(word)) }))
    .filter(({ distance }) => distance <= tolerated)
    .sort((a, b) => a.distance - b.distance)[0]?.word
}

/** Optimal string alignment: two swapped letters count as one mistake, for they are the commonest one. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(replaced, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1))
    }
  }
  return at(a.length, b.length)
}
