/**
 * Removes secrets from texts: secrets of a known form, text that matches patterns of the user, and configured values.
 * Each is replaced by `[redacted]` or `[redacted: kind]`. A text without secrets is returned unchanged; redacting a
 * text twice gives the same result as once.
 */

import { REACH } from './announced.ts'
import { isSecretField } from './assignment.ts'
import { mapJsonStrings, type Place } from './json-strings.ts'
import { findByRule } from './rule.ts'
import { ANNOUNCING, BUILT_IN, type RuleGroup } from './rules.ts'
import { mergeSpans, type Span, withoutSpans } from './spans.ts'
import { findHidden, ZERO_WIDTH_IN_JSON } from './zero-width.ts'

/** Shorter values would match too much unrelated text. */
export const MIN_VALUE_CHARS = 6

const MAX_ROUNDS = 5

export interface RedactorOptions {
  /** Known forms: tokens of vendors, private keys, passwords in addresses and assignments. */
  builtIn: boolean
  /** Sources of regular expressions. */
  patterns: readonly string[]
  values: readonly string[]
}

export class Redactor {
  /** The options it was created with, so that another thread can create the same redactor. */
  readonly options: RedactorOptions
  /** False: nothing is ever redacted. */
  readonly active: boolean
  readonly hasPatterns: boolean
  /** The configured values, plain and as they are escaped in JSON and in JSON within JSON. */
  readonly values: readonly string[]
  readonly #groups: readonly RuleGroup[]
  /** The user's patterns and values as global expressions. */
  readonly #given: readonly RegExp[]
  /** If none of these matches a JSON text, it contains no secret. */
  readonly #hints: readonly RegExp[]

  constructor(options: RedactorOptions) {
    const { builtIn, patterns, values } = options
    this.options = options
    this.#groups = builtIn ? BUILT_IN : []
    this.values = [...new Set(values.flatMap(writings))].sort((a, b) => b.length - a.length)
    const known = this.values.length > 0 ? [this.values.map(literal).join('|')] : []
    this.#given = [...patterns, ...known].map((source) => new RegExp(source, 'g'))
    this.hasPatterns = patterns.length > 0
    this.active = builtIn || patterns.length > 0 || values.length > 0
    // A user's pattern may match anything, so every string is checked. An escaped ASCII character may hide a secret, so
    // such strings are decoded and checked too.
    const escaped = String.raw`\\u00[2-7]|${ZERO_WIDTH_IN_JSON}`
    const more = patterns.length > 0 ? '"' : [...values.map(unescapedPart).map(literal), escaped].join('|')
    this.#hints = this.active ? [...this.#groups.map(({ hint }) => hint), new RegExp(more)] : []
  }

  text(text: string): string {
    // Removing one secret may reveal another one that was adjacent to it.
    for (let round = 0, rest = text; ; round++) {
      const spans = round < MAX_ROUNDS ? this.find(rest) : []
      if (spans.length === 0) return rest
      rest = withoutSpans(rest, spans)
    }
  }

  /**
   * Redacts the strings in a JSON text, which stays valid JSON. Fields of the outermost object that are named in `keep`
   * are not changed.
   */
  json(json: string, keep?: ReadonlySet<string>): string {
    if (!this.#mayHold(json)) return json
    return mapJsonStrings(json, (value, { name, depth }: Place) => {
      if (name !== null && depth === 1 && keep?.has(name)) return value
      if (this.#groups.length > 0 && name !== null && isSecretField(name, value)) return '[redacted: secret]'
      return this.text(value)
    })
  }

  #mayHold(json: string): boolean {
    for (const hint of this.#hints) if (hint.test(json)) return true
    return false
  }

  /**
   * Where the words begin, in reach of the end of the text, that may announce a secret of any form; -1 if there are
   * none.
   */
  findAnnounced(text: string): number {
    if (this.#groups.length === 0) return -1
    const from = Math.max(0, text.length - REACH)
    const at = text.slice(from).search(ANNOUNCING)
    return at === -1 ? -1 : Math.max(0, from + at - LONGEST_PREFIX)
  }

  find(text: string): Span[] {
    const found = this.#find(text)
    const hidden = findHidden(text, (seen) => this.#find(seen))
    const all = hidden.length === 0 ? found : [...found, ...hidden]
    return all.length === 0 ? all : mergeSpans(text, all)
  }

  #find(text: string): Span[] {
    const found: Span[] = []
    // The hints require a character before a token.
    const padded = isLetter(text.charCodeAt(0)) ? ` ${text}` : text
    for (const { hint, rules } of this.#groups) {
      if (hint.test(padded)) for (const rule of rules) findByRule(text, rule, found)
    }
    for (const pattern of this.#given) {
      pattern.lastIndex = 0
      for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
        const end = match.index + match[0].length
        if (match[0] === '') pattern.lastIndex++
        else found.push({ start: match.index, end, kind: '' })
      }
    }
    return found
  }
}

/** How far before a hint the words begin that it stands for. */
const LONGEST_PREFIX = 24

const isLetter = (code: number) => (code | 32) >= 97 && (code | 32) <= 122

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

const writings = (value: string): string[] => [value, inJson(value), inJson(inJson(value))]

const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** The longest part of a value that is never escaped in JSON, for use as a hint. */
function unescapedPart(value: string): string {
  const parts = value.split(/[^\w+=.,:;@%~!?^*()#$ -]+/)
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '').slice(0, 16)
}

export const NOTHING_TO_REDACT = new Redactor({ builtIn: false, patterns: [], values: [] })
