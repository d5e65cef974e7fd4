/**
 * The rule for assignments to a name that announces a secret: `PASSWORD=…`, `api_key: "…"`, `"token":"…"`, `--token …`.
 * The value is often not a secret but a word, a path or a variable name, which should stay readable. So a value counts
 * as a secret only if it is long and mixed enough to be none of these.
 */
import type { Rule } from './rule.ts'

const NAME =
  'pass(?:word|wd)|secret|(?<!page[-_]?)token|(?:api|access|secret|private|auth|encryption|signing|account|master|shared)[-_. ]?key'

const SEPARATOR = String.raw`\\{0,4}["'\x60]?\s{0,3}(?::=|=>|[:=>])\s{0,3}|(?<=--[\w-]{1,40}) `

const BARE = String.raw`[^\s"'\x60\\,;<>(){}[\]&|]`

export const assignment: Rule = {
  kind: 'secret',
  // Each letter is listed in both cases: with the flag `i` the regular expression engine could not skip ahead.
  hints: [
    String.raw`(?:[Ww][Oo][Rr][Dd]|[Ss][Ss][Ww][Dd]|[Cc][Rr][Ee][Tt]|[Oo][Kk][Ee][Nn]|[^][Kk][Ee][Yy])(?:["'\x60\\\snrt]{0,8}[:=>]|(?<=--[\w-]{1,40}) )`,
  ],
  pattern: new RegExp(
    `(?<head>(?:${NAME})(?:${SEPARATOR}))` +
      // The value is in quotes and may contain escapes; or in escaped quotes; or without quotes.
      String.raw`(?:["'\x60](?<value>(?:[^"'\x60\s\\]|\\[^\s]){8,128})|\\{1,4}["'\x60](?<value>[^"'\x60\s\\]{8,128})|(?<value>${BARE}{8,128}))`,
    'gi',
  ),
  fits: isSecretValue,
  rest: new RegExp(`${BARE}*`, 'y'),
}

const ENDS_IN_NAME = new RegExp(`(?:${NAME}|authorization)$`, 'i')

/** Whether a field in JSON is a secret, judged by its name and its whole value. */
export function isSecretField(name: string, value: string): boolean {
  return (
    value.length >= 8 &&
    name.length <= 200 &&
    ENDS_IN_NAME.test(name) &&
    !/\s/.test(value) &&
    isSecretValue(value, name)
  )
}

/** Only this many characters of a value are judged. */
const JUDGED_CHARS = 80

function isSecretValue(whole: string, name: string): boolean {
  const value = whole.slice(0, JUDGED_CHARS)
  if (!/[\d!@$%^+?~]/.test(value) || /^[$<{%*[]|:\/\//.test(value)) return false
  if (/^[A-Za-z0-9/+]{40}$/.test(value)) return /\d/.test(value)
  if (isReference(value)) return false
  return /pass/i.test(name) || isRandom(value)
}

/**
 * Whether the value is a path, the name of a variable or a member access: it says where the secret is, not what it is.
 */
function isReference(value: string): boolean {
  return (
    /^(?:[/~]|\.{1,2}\/|[A-Za-z]:\\)/.test(value) ||
    /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) ||
    (/^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(value) && !isRandom(value))
  )
}

/** Whether letters and digits are too mixed to be words: hexadecimal, base64, a UUID. */
export function isRandom(whole: string): boolean {
  const value = whole.slice(0, JUDGED_CHARS)
  const digits = value.replaceAll(/\D/g, '').length
  if (!/[A-Za-z]/.test(value) || digits < 2 || value.length < (digits < 3 ? 16 : 12)) return false
  return !value.split(/[^A-Za-z0-9]+/).every(isWord)
}

/** A word may have a number before or after it, or a digit in the middle (`k8s`); a number alone counts as well. */
const isWord = (part: string) =>
  /^(?:[A-Za-z]{0,24}\d{0,4}|\d{1,3}[A-Za-z]{1,24}|[A-Za-z]{1,3}\d[A-Za-z]{1,3})$/.test(part)
