/** Private keys in PEM format, the only secrets that span several lines. */
import type { Rule } from './rule.ts'

const KINDS = '(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?'
/** The separator of two lines: a line end, plain or escaped in JSON, and line numbers. */
const BREAK = String.raw`(?:\s|\\{1,4}[nrt]|\d{1,5}[→\t:|])`
/** An unambiguous line end, so that the text before it can match in one way only. */
const LINE_END = String.raw`(?:[\r\n]|\\{1,4}[nr])`
const BASE64 = '[A-Za-z0-9+/=]'

export const privateKey: Rule = {
  kind: 'private-key',
  hints: ['---B'],
  pattern: new RegExp(
    `-----BEGIN ${KINDS}-----` +
      String.raw`(?:${LINE_END}${BREAK}{0,40}[A-Za-z-]{2,40}: [^\r\n\\]{0,200}){0,6}${BREAK}{0,40}${BASE64}{16,16384}` +
      `(?:${BREAK}{1,40}${BASE64}{16,16384})*` +
      `(?:${BREAK}{0,40}${BASE64}{0,100}${BREAK}{0,40}-----END [A-Z0-9 ]{1,60}-----)?`,
    'g',
  ),
}

const BEGINNING = '-----BEGIN '
const UNFINISHED = new RegExp(
  String.raw`^-----BEGIN (?:[A-Z0-9 ]{0,80}-{0,5}|${KINDS}-----[\w+/=\s\\→|:,-]*)$`,
)

/** The start of a private key that may continue after the end of the text; the length of the text if there is none. */
export function startOfUnfinishedKey(text: string): number {
  const start = text.lastIndexOf(BEGINNING)
  if (start === -1) return text.length
  const rest = text.slice(start)
  return UNFINISHED.test(rest) && !/-----END [A-Z0-9 ]{1,60}-----/.test(rest) ? start : text.length
}
