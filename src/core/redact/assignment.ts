/**
 * A name that says that a secret follows, and what follows: `PASSWORD=…`, `api_key: "…"`, `"token":"…"`, `--token …`.
 * What is written there is often no secret but a word, a path or where to find it, and that is to stay readable. So it
 * counts only if it is long and mixed enough to be neither.
 */
import type { Rule } from './rule.ts'

const NAME =
  'pass(?:word|wd)|secret|(?<!page[-_]?)token|(?:api|access|secret|private|auth|encryption|signing|account|master|shared)[-_. ]?key'

const SEPARATOR = String.raw`\\{0,4}["'\x60]?\s{0,3}(?::=|=>|[:=>])\s{0,3}|(?<=--[\w-]{1,40}) `

const BARE = String.raw`[^\s"'\x60\\,;<>(){}[\]&|]`

export const assignment: Rule = {
  kind: 'secret',
  // Any case is said letter by letter: with the flag for it, the engine would not skip ahead.
  hints: [
    String.raw`(?:[Ww][Oo][Rr][Dd]|[Ss][Ss][Ww][Dd]|[Cc][Rr][Ee][Tt]|[Oo][Kk][Ee][Nn]|[^][Kk][Ee][Yy])(?:["'\x60\\\snrt]{0,8}[:=>]|(?<=--[\w-]{1,40}) )`,
  ],
  pattern: new RegExp(
    `(?<head>(?:${NAME})(?:${SEPARATOR}))` +
      // In quotes, with its own escapes; in quotes that are escaped themselves; without quotes.
      String.raw`(?:["'\x60](?<value>(?:[^"'\x60\s\\]|\\[^\s]){8,128})|\\{1,4}["'\x60](?<value>[^"'\x60\s\\]{8,128})|(?<value>${BARE}{8,128}))`,
    'gi',
  ),
  fits: isSecretValue,
  rest: new RegExp(`${BARE}*`, 'y'),
}

const ENDS_IN_NAME = new RegExp(`(?:${NAME}|authorization)$`, 'i')

/** Of a field in JSON: the value as a whole. */
export function isSecretField(name: string, value: string): boolean {
  return (
    value.length >= 8 &&
    name.length <= 200 &&
    ENDS_IN_NAME.test(name) &&
    !/\s/.test(value) &&
    isSecretValue(value, name)
  )
}

/** Enough to tell by. */
const JUDGED_CHARS = 80

function isSecretValue(whole: string, name: string): boolean {
  const value = whole.slice(0, JUDGED_CHARS)
  if (!/[\d!@$%^+?~]/.test(value) || /^[$<{%*[]|:\/\//.test(value)) return false
  if (/^[A-Za-z0-9/+]{40}$/.test(value)) return /\d/.test(value)
  if (isReference(value)) return false
  return /pass/i.test(name) || isRandom(value)
}

/** A path, a variable's name, a member of something: where the secret is, not what it is. */
function isReference(value: string): boolean {
  return (
    /^(?:[/~]|\.{1,2}\/|[A-Za-z]:\\)/.test(value) ||
    /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) ||
    (/^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(value) && !isRandom(value))
  )
}

/** Letters and digits so mixed that they are no words: hexadecimal, base64, a UUID. */
export function isRandom(whole: string): boolean {
  const value = whole.slice(0, JUDGED_CHARS)
  const digits = value.replaceAll(/\D/g, '').length
  if (!/[A-Za-z]/.test(value) || digits < 2 || value.length < (digits < 3 ? 16 : 12)) return false
  return !value.split(/[^A-Za-z0-9]+/).every(isWord)
}

/** Also one with a number before or after it, or with one in its middle (`k8s`), and a number alone. */
const isWord = (part: string) =>
  /^(?:[A-Za-z]{0,24}\d{0,4}|\d{1,3}[A-Za-z]{1,24}|[A-Za-z]{1,3}\d[A-Za-z]{1,3})$/.test(part)
