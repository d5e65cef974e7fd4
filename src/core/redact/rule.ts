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
  /** It is a secret only as an argument of such a command. */
  command?: RegExp
  /** A sticky expression for the rest of a value that is longer than the pattern matches. */
  rest?: RegExp
}

/** Adds the matches of the rule to `found`. */
export function findByRule(text: string, rule: Rule, found: Span[]): void {
  const { kind, pattern, fits, rest, command } = rule
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const { head = '', value = match[0] } = match.groups ?? {}
    const start = match.index + match[0].indexOf(value, head.length)
    // A value that is not a secret may be the name of the next assignment.
    if ((fits && !fits(value, head)) || (command && !isArgumentOf(command, text, match.index)))
      pattern.lastIndex = start
    else {
      const end = start + value.length
      found.push({ start, end: rest ? endOf(rest, text, end) : end, kind })
    }
  }
}

/** How far before its argument a command may be. */
const REACH = 300
const COMMAND_END = /(?<!\\)\n|(?:;|&&|\|)\s/g

function isArgumentOf(command: RegExp, text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - REACH), at)
  const last = [...before.matchAll(COMMAND_END)].at(-1)
  return command.test(last ? before.slice(last.index + last[0].length) : before)
}

function endOf(rest: RegExp, text: string, at: number): number {
  rest.lastIndex = at
  return rest.test(text) ? rest.lastIndex : at
}
