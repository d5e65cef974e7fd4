/**
 * Changes the strings in a JSON text without parsing it. Everything that is not a string, and every string that does
 * not change, is kept byte by byte.
 */

/**
 * The position of a string: `name` is the field whose value it is, or null; `depth` is the depth of that field, 1 at
 * the top.
 */
export interface Place {
  name: string | null
  depth: number
}

const [QUOTE, BACKSLASH, COLON] = ['"', '\\', ':'].map((c) => c.charCodeAt(0))
const OPENS = /[{[]/g
const CLOSES = /[}\]]/g

export function mapJsonStrings(json: string, change: (value: string, place: Place) => string): string {
  let result = ''
  let kept = 0
  let depth = 0
  let name: string | null = null
  for (let at = 0; ; ) {
    const start = json.indexOf('"', at)
    const between = json.slice(at, start === -1 ? undefined : start)
    depth += countOf(between, OPENS) - countOf(between, CLOSES)
    if (between.trim() !== ':') name = null
    if (start === -1) return result + json.slice(kept)
    const end = endOfString(json, start)
    const isName = end === json.length ? false : json.charCodeAt(afterSpace(json, end)) === COLON
    const value = decode(json.slice(start, end))
    const changed = change(value, { name: isName ? null : name, depth })
    if (changed !== value) {
      result += json.slice(kept, start) + JSON.stringify(changed)
      kept = end
    }
    name = isName ? value : null
    at = end
  }
}

/** The index after the closing quote; the end of the text if there is none. */
function endOfString(json: string, start: number): number {
  for (let quote = start; ; ) {
    quote = json.indexOf('"', quote + 1)
    if (quote === -1) return json.length
    let before = quote - 1
    while (before > start && json.charCodeAt(before) === BACKSLASH) before--
    if ((quote - before) % 2 === 1) return quote + 1
  }
}

function afterSpace(json: string, at: number): number {
  while (/\s/.test(json.charAt(at))) at++
  return at
}

const countOf = (text: string, what: RegExp) =>
  text.length < 2 ? Number(text.search(what) === 0) : (text.match(what)?.length ?? 0)

function decode(literal: string): string {
  if (!literal.includes('\\') && literal.length >= 2 && literal.charCodeAt(literal.length - 1) === QUOTE) {
    return literal.slice(1, -1)
  }
  try {
    return JSON.parse(literal) as string
  } catch {
    return literal.slice(1)
  }
}
