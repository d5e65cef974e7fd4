/**
 * Characters without width, which hide in a word without being seen. A secret that is split by them is still a secret,
 * so secrets are also looked for in the text without them.
 */
import type { Span } from './spans.ts'

const SOURCE = String.raw`[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]`

/** Matches such a character, also where JSON escapes it. */
export const ZERO_WIDTH_IN_JSON = String.raw`${SOURCE}|\\u(?:00[aA][dD]|034[fF]|061[cC]|180[eE]|20[026][0-9a-fA-F]|[fF][eE]0|[fF][eE][fF][fF])`

const ZERO_WIDTH = new RegExp(SOURCE)
const RUNS = new RegExp(`${SOURCE}+`, 'g')

const BY_CODE = Uint8Array.from({ length: 0x10000 }, (_, code) =>
  ZERO_WIDTH.test(String.fromCharCode(code)) ? 1 : 0,
)

export const isZeroWidth = (code: number): boolean => BY_CODE[code] === 1

/** The spans that `find` finds in the text without these characters, as spans of the text. */
export function findHidden(text: string, find: (text: string) => readonly Span[]): Span[] {
  if (!ZERO_WIDTH.test(text)) return []
  const spans = find(text.replaceAll(RUNS, ''))
  if (spans.length === 0) return []
  // The positions in the text of the characters that were kept.
  const kept: number[] = []
  for (let at = 0; at < text.length; at++) if (!isZeroWidth(text.charCodeAt(at))) kept.push(at)
  return spans.map(({ start, end, kind }) => ({
    start: kept[start] ?? text.length,
    end: (kept[end - 1] ?? text.length) + 1,
    kind,
  }))
}
