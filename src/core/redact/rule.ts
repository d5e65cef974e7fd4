/** A rule for one known form of secrets. */
import type { Span } from './spans.ts'

export interface Rule {
  kind: string
  /** Sources of cheap expressions. One of them matches wherever the pattern can match, in JSON text too. */
  hints: readonly string[]
  /**
   * A global expression. The secret is the group `value`, after the group `head`; without these groups, the whole
   * match.
   */
  pattern: RegExp
  fits?: (value: string, head: string) => boolean
  /** A sticky expression for the rest of a value that is longer than the pattern matches. */
  rest?: RegExp
}

/** Adds the matches of the rule to `found`. */
export function findByRule(text: string, { kind, pattern, fits, rest }: Rule, found: Span[]): void {
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const { head = '', value = match[0] } = match.groups ?? {}
    const start = match.index + match[0].indexOf(value, head.length)
    // A value that is not a secret may be the name of the next assignment.
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
