/**
 * Estimates how many tokens a text has, without a tokenizer. The estimate is rather too high: a history that is
 * overestimated is shortened a little, but one that is underestimated does not fit the model at all.
 *
 * A token of normal words has about four characters, so 3.5 are assumed. Digits, punctuation and long words (keys,
 * hashes, base64) take far more tokens; so does text outside of ASCII, which is estimated by its bytes.
 */
const WORD_CHARS = 3.5
const SYMBOL_CHARS = 1.5
const DENSE_CHARS = 2
const UTF8_BYTES = 2
/** A character that repeats the one before it: rulers, padding, blank lines. */
const REPEATED_CHARS = 4
/** Longer sequences are not words but keys, hashes and the like. */
const WORD_MAX = 30

export function estimateTokens(text: string): number {
  let tokens = 0
  let word = 0
  let before = -1
  const endWord = () => {
    tokens += word / (word > WORD_MAX ? DENSE_CHARS : WORD_CHARS)
    word = 0
  }
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === before) tokens += 1 / REPEATED_CHARS
    else if (isWordCharacter(code)) word++
    else {
      endWord()
      if (code === SPACE) tokens += 1 / WORD_CHARS
      else tokens += code < 0x80 ? 1 / SYMBOL_CHARS : bytesOf(code) / UTF8_BYTES
    }
    before = code
  }
  endWord()
  return Math.ceil(tokens)
}

const SPACE = 0x20

/** Letters, digits, and the characters of base64, paths and identifiers. */
const isWordCharacter = (code: number) =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x2f && code <= 0x39) ||
  JOINS.has(code)

const JOINS: ReadonlySet<number> = new Set([...'+-_='].map((character) => character.charCodeAt(0)))

/** The number of bytes in UTF-8. Each half of a surrogate pair counts two of its four bytes. */
function bytesOf(code: number): number {
  if (code < 0x800) return 2
  return code >= 0xd800 && code <= 0xdfff ? 2 : 3
}

/** The assumed context window of a model whose window is not known. */
export const DEFAULT_WINDOW = 200_000
/** The estimated tokens of the agent's own system prompt, its tools, and the instruction files that it reads. */
const OVERHEAD_TOKENS = 25_000
/** The share of the usable window that the past may take; the rest is for the work. */
const PAST_SHARE = 0.75
const LEAST_TOKENS = 2000

export interface RoomFacts {
  /** The context window of the model; null: unknown. */
  window: number | null
  /** Share of the window above which a session counts as full. */
  threshold: number
  /** Tokens of the texts that are sent together with the past. */
  besides: number
  /** Tokens that the session contains already; 0 for a new session. */
  held: number
}

/** How many tokens of the past can be sent. */
export function roomForPast({ window, threshold, besides, held }: RoomFacts): number {
  const usable = (window ?? DEFAULT_WINDOW) * threshold
  const room = Math.min(usable * PAST_SHARE - OVERHEAD_TOKENS, usable - held) - besides
  return Math.max(LEAST_TOKENS, Math.floor(room))
}
