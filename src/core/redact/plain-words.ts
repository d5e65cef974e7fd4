/**
 * A fast check for text that cannot contain a secret of a known form. Such a secret is one long word with a digit, a
 * symbol or a capital letter inside; a text without such words needs no further check.
 */

import { isZeroWidth } from './zero-width.ts'

/**
 * Tokens contain no white space, quotes or characters outside of ASCII. Languages outside of ASCII may have no spaces
 * between words.
 */
const isBoundary = (code: number) =>
  code <= 32 || code === 34 || code === 39 || code === 96 || (code > 126 && !isZeroWidth(code))

/** The start of the unfinished word at the end of the text; not before `from`. */
export function afterLastBoundary(text: string, from: number): number {
  let at = text.length
  while (at > from && !isBoundary(text.charCodeAt(at - 1))) at--
  return at
}

const SHORT = 8
const [WORD, CAPITAL, NEUTRAL, ODD, END] = [0, 1, 2, 3, 4]
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code)
  if (isBoundary(code)) return END
  if (/[a-z]/.test(char)) return WORD
  if (/[A-Z]/.test(char)) return CAPITAL
  return /[-_.,;:/|*#&(){}[\]<>=]/.test(char) ? NEUTRAL : ODD
})

/** Whether each word, including the unfinished one at the end, is short or consists of letters only. */
export function isPlain(text: string): boolean {
  let length = 0
  let odd = false
  let afterLetter = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const kind = code < 128 ? CLASSES[code] : isZeroWidth(code) ? ODD : END
    if (kind === END) {
      length = 0
      odd = afterLetter = false
      continue
    }
    length++
    odd ||= kind === ODD || (kind === CAPITAL && afterLetter)
    if (odd && length >= SHORT) return false
    afterLetter = kind === WORD || kind === CAPITAL
  }
  return true
}
