/** One form that secrets have. */
import type { Span } from './spans.ts'

export interface Rule {
  kind: string
  /** Sources of which one matches wherever the pattern can, in JSON text too. */
  hints: readonly string[]
  /**
   * Global. What is to be hidden is the group `value`, somewhere behind the group `head`; without these groups, the
   * whole match.
   */
  pattern: RegExp
  fits?: (value: string, head: string) => boolean
  /** Sticky: what belongs to a value that fits, however long it is. */
  rest?: RegExp
}

/** Adds to what was found. */
export function findByRule(text: string, { kind, pattern, fits, rest }: Rule, found: Span[]): void {
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const { head = '', value = match[0] } = match.groups ?? {}
    const start = match.index + match[0].indexOf(value, head.length)
    // What was no secret may be the name of one.
    if (fits && !fits(value, head)) pattern.lastIndex = start
    else {
      const end = start + value.length
      found.push({ start, end: rest ? endOf(rest, text, end) : end, kind })
    }
  }
}

function endOf(rest: RegExp, text: string, at: number): number {
  rest.lastIndex = at
  return rest.test(text) ? rest.lastIndex : at
}
