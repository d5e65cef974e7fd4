/**
 * Redacts text that comes in pieces. A secret may be cut in two by the end of a piece, so the last word of what has come
 * is held back until it is known to be whole; all before it goes on at once. What went on is remembered for a while,
 * because it may say what follows (`Authorization: Bearer `). The pieces that go on, put together, are the redacted
 * text, with one exception: a pattern that spans white space may match only when its beginning has gone on already.
 */
import { afterLastBoundary, isPlain } from './plain-words.ts'
import { startOfUnfinishedKey } from './private-key.ts'
import type { Redactor } from './redactor.ts'
import { markOf, type Span } from './spans.ts'

/** A longer word goes on in part: nobody is to wait for the end of a megabyte without a space. */
const MAX_HELD = 2048
const CONTEXT = 48
/** A private key is taken for one as long as it grows, up to here. */
const MAX_CONTEXT = 32_768

export class DeltaStream {
  readonly #redactor: Redactor
  /** A text of plain words may be a secret, or have one in it: one of the user's. */
  readonly #mindsWords: boolean
  readonly #spaced: readonly string[]
  /** What went on, as far as it is remembered. */
  #before = ''
  #held = ''
  /** How much of what is remembered the last mark stands for. */
  #marked = 0
  #inKey = false

  constructor(redactor: Redactor) {
    this.#redactor = redactor
    this.#mindsWords = redactor.hasPatterns || redactor.values.some(isPlain)
    this.#spaced = redactor.values.filter((value) => afterLastBoundary(value, 0) > 0)
  }

  /** What can go on now. */
  push(piece: string): string {
    const unseen = this.#held + piece
    // Most of what comes is prose.
    if (!this.#inKey && !this.#mindsWords && unseen.length <= MAX_HELD && isPlain(unseen)) {
      const cut = afterLastBoundary(unseen, 0)
      const passed = unseen.slice(0, cut)
      this.#remember(this.#before + passed, undefined)
      this.#held = unseen.slice(cut)
      return passed
    }
    const text = this.#before + unseen
    const spans = this.#redactor.find(text)
    const key = startOfUnfinishedKey(text)
    this.#inKey = key < text.length
    if (this.#inKey && (key < this.#before.length || text.length - key > MAX_HELD)) {
      // Too long to be held back: what has come of it goes, and what will come of it.
      const span = spans.find(({ start }) => start === key)
      if (span) span.end = text.length
      return this.#pass(text, span ? text.length : this.#cut(text, spans), spans)
    }
    return this.#pass(text, Math.min(key, this.#cut(text, spans)), spans)
  }

  /** The rest: no more will come. */
  flush(): string {
    const text = this.#before + this.#held
    const rest = this.#held === '' ? '' : this.#pass(text, text.length, this.#redactor.find(text))
    this.#before = this.#held = ''
    this.#marked = 0
    this.#inKey = false
    return rest
  }

  #cut(text: string, spans: readonly Span[]): number {
    const passed = this.#before.length
    let cut = afterLastBoundary(text, passed)
    for (const value of this.#spaced) cut = Math.min(cut, startOfPart(text, value))
    const across = spans.find(({ start, end }) => start < cut && cut <= end)
    if (across) cut = across.start >= passed ? across.start : across.end
    if (text.length - cut > MAX_HELD) {
      const least = text.length - MAX_HELD / 2
      cut = spans.find(({ start, end }) => start < least && least < end)?.end ?? least
    }
    return Math.max(cut, passed)
  }

  #pass(text: string, cut: number, spans: readonly Span[]): string {
    let passed = ''
    let at = this.#before.length
    for (const span of spans) {
      if (span.end <= at || span.start >= cut) continue
      passed += text.slice(at, Math.max(at, span.start))
      if (span.start >= this.#marked) passed += markOf(span)
      at = this.#marked = Math.min(span.end, cut)
    }
    passed += text.slice(at, Math.max(at, cut))
    at = Math.max(at, cut)
    this.#held = text.slice(at)
    this.#remember(text.slice(0, at), spans.at(-1))
    return passed
  }

  #remember(before: string, last: Span | undefined): void {
    const isGrowing = last && last.end >= before.length && before.length - last.start < MAX_CONTEXT
    let from = before.length <= 2 * CONTEXT ? 0 : before.length - CONTEXT
    if (isGrowing) from = Math.min(from, last.start)
    this.#before = from === 0 ? before : before.slice(from)
    this.#marked = Math.max(0, this.#marked - from)
  }
}

/** Where the end of the text is the beginning of the value, if it is. */
function startOfPart(text: string, value: string): number {
  const first = value.charAt(0)
  let at = text.indexOf(first, Math.max(0, text.length - value.length + 1))
  while (at !== -1 && !value.startsWith(text.slice(at))) at = text.indexOf(first, at + 1)
  return at === -1 ? text.length : at
}
