/**
 * Fits the past into the tokens that are available for it. If everything fits, nothing is changed. Otherwise it is cut
 * in this order, and only as far as necessary:
 *
 * 1. Inputs and outputs of tools that are longer than a limit are shortened to it. The limit is halved until the past
 *    fits.
 * 2. Messages that take more than a quarter of the available tokens are shortened to that.
 * 3. The oldest sections are left out.
 * 4. If not even the newest one fits, it is shortened.
 *
 * A shortened text keeps its beginning and its end. The result lists everything that was left out.
 */
import type { LeftOut, LeftOutItem } from '../../contract/left-out.ts'
import { estimateTokens } from './tokens.ts'

export interface Piece {
  what: Exclude<LeftOutItem['what'], 'turn' | 'step'>
  /** The tool's name. */
  name?: string
  text: string
  /** How many characters were cut off before, when the text was stored. */
  missing?: number
}

/** A turn, or a step of interrupted work. */
export interface Section {
  what: 'turn' | 'step'
  turn: number | null
  pieces: readonly Piece[]
  /** Puts the pieces together, as they are or shortened. */
  assemble: (texts: readonly string[]) => string
}

export interface Fitted {
  /** One text per section that was not left out, in order. */
  texts: string[]
  leftOut: LeftOut | null
}

interface Sized extends Piece {
  /** The text that is sent. */
  given: string
  cut: number
  tokens: number
}

/** The estimated tokens of the text around the pieces of a section. */
const FRAME_TOKENS = 20
const TOOL_LENGTHS = [64_000, 32_000, 16_000, 8000, 4000, 2000, 1000, 500]
const MESSAGE_SHARE = 0.25

export function fitPast(sections: readonly Section[], room: number): Fitted {
  const sized = sections.map((section) => ({ section, pieces: section.pieces.map(sizeOf) }))
  const total = () => sized.reduce((sum, { pieces }) => sum + tokensOf(pieces), 0)
  const all = sized.flatMap(({ pieces }) => pieces)
  for (const length of TOOL_LENGTHS) {
    if (total() <= room) break
    for (const piece of all)
      if (piece.what !== 'message' && piece.text.length > length) shorten(piece, length)
  }
  if (total() > room) {
    for (const piece of all) if (piece.what === 'message') shortenToTokens(piece, room * MESSAGE_SHARE)
  }
  let left = total()
  let first = 0
  for (; left > room && first < sized.length - 1; first++) left -= tokensOf(sized[first]?.pieces ?? [])
  const kept = sized.slice(first)
  const texts = kept.map(({ section, pieces }) => section.assemble(pieces.map(({ given }) => given)))
  const items = [...sized.slice(0, first).map(droppedItem), ...kept.flatMap(shortenedItems)]
  if (left > room && texts.length === 1) {
    const { text, cut } = excerpt(texts[0] ?? '', lengthWithin(texts[0] ?? '', room))
    texts[0] = text
    items.push({ what: 'message', turn: kept[0]?.section.turn ?? null, characters: cut })
  }
  return { texts, leftOut: summarize(items) }
}

function sizeOf(piece: Piece): Sized {
  const { text, missing = 0 } = piece
  const given = missing > 0 ? `${text}… (${missing} more characters)` : text
  return { ...piece, given, cut: missing, tokens: estimateTokens(given) }
}

const tokensOf = (pieces: readonly Sized[]) => pieces.reduce((sum, { tokens }) => sum + tokens, FRAME_TOKENS)

function shorten(piece: Sized, length: number): void {
  const { text, cut } = excerpt(piece.text, length)
  piece.given = text
  piece.cut = cut + (piece.missing ?? 0)
  piece.tokens = estimateTokens(text)
}

function shortenToTokens(piece: Sized, tokens: number): void {
  if (piece.tokens > tokens) shorten(piece, lengthWithin(piece.text, tokens))
}

const lengthWithin = (text: string, tokens: number) =>
  Math.floor((text.length * tokens) / Math.max(1, estimateTokens(text)))

const HEAD_SHARE = 0.7

/** Shortens a text to its beginning and its end; `cut` is how many characters are left out between them. */
export function excerpt(text: string, length: number): { text: string; cut: number } {
  if (text.length <= length) return { text, cut: 0 }
  const head = Math.floor(length * HEAD_SHARE)
  const tail = Math.floor(length) - head
  const cut = text.length - head - tail
  const end = tail > 0 ? text.slice(-tail) : ''
  return { text: `${text.slice(0, head)}\n… (${cut} characters left out here) …\n${end}`, cut }
}

const droppedItem = ({ section, pieces }: { section: Section; pieces: readonly Sized[] }): LeftOutItem => ({
  what: section.what,
  turn: section.turn,
  characters: pieces.reduce((sum, { text, missing = 0 }) => sum + text.length + missing, 0),
})

const shortenedItems = ({ section, pieces }: { section: Section; pieces: readonly Sized[] }): LeftOutItem[] =>
  pieces
    .filter(({ cut }) => cut > 0)
    .map(({ what, name, cut }) => ({
      what,
      turn: section.turn,
      ...(name === undefined ? {} : { tool: name }),
      characters: cut,
    }))

/** At most this many items are listed, the largest ones; the counts include all. */
const LISTED = 100

function summarize(items: readonly LeftOutItem[]): LeftOut | null {
  if (items.length === 0) return null
  const count = (...whats: LeftOutItem['what'][]) => items.filter(({ what }) => whats.includes(what)).length
  const largest = new Set(items.toSorted((a, b) => b.characters - a.characters).slice(0, LISTED))
  return {
    turns: count('turn'),
    steps: count('step'),
    messages: count('message'),
    tools: count('tool-input', 'tool-output'),
    characters: items.reduce((sum, { characters }) => sum + characters, 0),
    items: items.filter((item) => largest.has(item)),
  }
}
