/** The known word that a mistyped one most likely stands for. Case, `-` and `_` do not count: `max_age` is `maxAge`. */
import damerauLevenshtein from 'damerau-levenshtein'

export function nearestWord(typed: string, known: readonly string[]): string | undefined {
  const plain = (word: string) => word.toLowerCase().replaceAll(/[-_]/g, '')
  const tolerated = Math.max(1, Math.floor(typed.length / 3))
  return known
    .map((word) => ({ word, edits: damerauLevenshtein(plain(typed), plain(word)).steps }))
    .filter(({ edits }) => edits <= tolerated)
    .sort((a, b) => a.edits - b.edits)[0]?.word
}
