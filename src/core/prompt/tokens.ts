/**
 * How many tokens a text takes, without a tokenizer. The estimate errs on the high side: a history that is taken to be
 * longer than it is loses a little of itself, one that is taken to be shorter does not fit the model at all.
 *
 * Words take a token for about four characters, so three and a half are counted. Digits, punctuation and long words
 * without a space (keys, hashes, base64) take far more; so does text outside of ASCII, which is counted by its bytes.
 */
const WORD_CHARS = 3.5
const SYMBOL_CHARS = 1.5
const DENSE_CHARS = 2
const UTF8_BYTES = 2
/** A character that repeats the one before it: rulers, padding, blank lines. */
const REPEATED_CHARS = 4
/** Longer words are not words. */
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

/** Letters, digits, and what else stands in base64, paths and identifiers. */
const isWordCharacter = (code: number) =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x2f && code <= 0x39) ||
  JOINS.has(code)

const JOINS: ReadonlySet<number> = new Set([...'+-_='].map((character) => character.charCodeAt(0)))

/** In UTF-8. Each half of a surrogate pair counts two of its four bytes. */
function bytesOf(code: number): number {
  if (code < 0x800) return 2
  return code >= 0xd800 && code <= 0xdfff ? 2 : 3
}

/** The window of a model that nobody has told about. */
export const DEFAULT_WINDOW = 200_000
/** The agent's own system prompt and tools, and the files of instructions that it reads. */
const OVERHEAD_TOKENS = 25_000
/** Of what a session may hold before it counts as full, the rest is for the work. */
const PAST_SHARE = 0.75
const LEAST_TOKENS = 2000

export interface RoomFacts {
  /** Of the model that is to run. null: unknown. */
  window: number | null
  /** Share of the window above which a session counts as full. */
  threshold: number
  /** What else is sent with the past. */
  besides: number
  /** What the session holds already; 0 for a fresh one. */
  held: number
}

/** How many tokens of the past a message may carry. */
export function roomForPast({ window, threshold, besides, held }: RoomFacts): number {
  const usable = (window ?? DEFAULT_WINDOW) * threshold
  const room = Math.min(usable * PAST_SHARE - OVERHEAD_TOKENS, usable - held) - besides
  return Math.max(LEAST_TOKENS, Math.floor(room))
}
