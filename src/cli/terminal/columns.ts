/** How much room text takes on a terminal. Only as far as we can be sure: fonts and terminals differ on the rest. */

/** One column each, everywhere: Latin, Greek, Cyrillic, and the dashes, quotes and dots of prose. */
const NARROW = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u0370-\u03ff\u0410-\u044f\u2010-\u2022\u2026]*$/

/** The beginning of a line that surely fits: whatever may be wide is counted as such. */
export function fitColumns(text: string, columns: number): string {
  let used = 0
  let kept = ''
  for (const char of text) {
    used += NARROW.test(char) ? 1 : 2
    if (used > columns) return `${kept}…`
    if (used < columns) kept += char
  }
  return text
}

/** How many columns the line has that ends in `text`, after `before` columns of it; null if that is not sure. */
export function lengthAfter(before: number | null, text: string): number | null {
  const newline = text.lastIndexOf('\n')
  const start = newline === -1 ? before : 0
  const rest = text.slice(newline + 1)
  return start === null || !NARROW.test(rest) ? null : start + rest.length
}
