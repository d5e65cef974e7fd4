/**
 * Takes secrets out of texts: those of a known form, those that match patterns of the user, and given values. What is
 * taken out is replaced by `[redacted]`, or `[redacted: kind]`. A text without secrets is returned as it is; redacting
 * what was redacted changes nothing.
 */
import { isSecretField } from './assignment.ts'
import { mapJsonStrings, type Place } from './json-strings.ts'
import { findByRule } from './rule.ts'
import { BUILT_IN, type RuleGroup } from './rules.ts'
import { mergeSpans, type Span, withoutSpans } from './spans.ts'

/** A shorter value would be found in texts that have nothing to do with it. */
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
  /** What it was made of, so that another thread can make the same. */
  readonly options: RedactorOptions
  /** False: there is nothing to look for. */
  readonly active: boolean
  readonly hasPatterns: boolean
  /** As they are, and as they stand in texts that are JSON themselves, or have JSON in them. */
  readonly values: readonly string[]
  readonly #groups: readonly RuleGroup[]
  /** Patterns and values, global. */
  readonly #given: readonly RegExp[]
  /** One of them matches wherever there may be a secret, in JSON text. */
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
    // A pattern may match anything. Letters need no escape: what has one is decoded before it is judged.
    const escaped = String.raw`\\u00[2-7]`
    const more = patterns.length > 0 ? '"' : [...values.map(unescapedPart).map(literal), escaped].join('|')
    this.#hints = this.active ? [...this.#groups.map(({ hint }) => hint), new RegExp(more)] : []
  }

  text(text: string): string {
    // What was glued to a secret may be recognised once that is gone.
    for (let round = 0, rest = text; ; round++) {
      const spans = round < MAX_ROUNDS ? this.find(rest) : []
      if (spans.length === 0) return rest
      rest = withoutSpans(rest, spans)
    }
  }

  /**
   * Of a JSON text: it stays one, and only what its strings say is changed. Fields of the outermost object named in
   * `keep` are left alone.
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

  find(text: string): Span[] {
    const found: Span[] = []
    // The hints expect something before a token.
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
    return found.length === 0 ? found : mergeSpans(text, found)
  }
}

const isLetter = (code: number) => (code | 32) >= 97 && (code | 32) <= 122

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

const writings = (value: string): string[] => [value, inJson(value), inJson(inJson(value))]

const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** A part of it that is written the same in any JSON: enough to look closer. */
function unescapedPart(value: string): string {
  const parts = value.split(/[^\w+=.,:;@%~!?^*()#$ -]+/)
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '').slice(0, 16)
}

export const NOTHING_TO_REDACT = new Redactor({ builtIn: false, patterns: [], values: [] })
