/**
 * Redacts text that comes in pieces. A secret may be cut in two by the end of a piece, so the last word of what has come
 * is held back until it is known to be whole; all before it goes on at once. What went on is remembered for a while,
 * because it may say what follows (`Authorization: Bearer `). The pieces that go on, put together, are the redacted
 * text, with one exception: a pattern that spans white space may match only when its beginning has gone on already.
 */
import { startOfUnfinishedKey } from './private-key.ts'
import type { Redactor } from './redactor.ts'
import { markOf, type Span } from './spans.ts'

/** A longer word goes on in part: nobody is to wait for the end of a megabyte without a space. */
const MAX_HELD = 2048
const CONTEXT = 96
/** A private key is taken for one as long as it grows, up to here. */
const MAX_CONTEXT = 32_768

export class DeltaStream {
  readonly #redactor: Redactor
  readonly #spaced: readonly string[]
  /** What is remembered, and what is held back. */
  #text = ''
  /** How much of it went on. */
  #passed = 0
  /** How much of it the last mark stands for, if it went on before the secret ended. */
  #marked = 0

  constructor(redactor: Redactor) {
    this.#redactor = redactor
    this.#spaced = redactor.values.filter((value) => afterLastBoundary(value, 0) > 0)
  }

  get isHolding(): boolean {
    return this.#passed < this.#text.length
  }

  /** What can go on now. */
  push(piece: string): string {
    this.#text += piece
    const { length } = this.#text
    const spans = this.#redactor.find(this.#text)
    const key = startOfUnfinishedKey(this.#text)
    if (key < length && (key < this.#passed || length - key > MAX_HELD)) {
      // Too long to be held back: what has come of it goes, and what will come of it.
      const span = spans.find(({ start }) => start === key)
      if (span) span.end = length
      return this.#passTo(span ? length : this.#cut(spans), spans)
    }
    return this.#passTo(Math.min(key, this.#cut(spans)), spans)
  }

  /** The rest: no more will come. */
  flush(): string {
    const rest = this.#passTo(this.#text.length, this.#redactor.find(this.#text))
    this.#text = ''
    this.#passed = 0
    this.#marked = 0
    return rest
  }

  #cut(spans: readonly Span[]): number {
    const { length } = this.#text
    let cut = afterLastBoundary(this.#text, this.#passed)
    for (const value of this.#spaced) cut = Math.min(cut, startOfPart(this.#text, value))
    const across = spans.find(({ start, end }) => start < cut && cut <= end)
    if (across) cut = across.start >= this.#passed ? across.start : across.end
    if (length - cut > MAX_HELD) {
      const least = length - MAX_HELD / 2
      cut = spans.find(({ start, end }) => start < least && least < end)?.end ?? least
    }
    return Math.max(cut, this.#passed)
  }

  #passTo(cut: number, spans: readonly Span[]): string {
    let passed = ''
    let at = this.#passed
    for (const span of spans) {
      if (span.end <= at || span.start >= cut) continue
      passed += this.#text.slice(at, Math.max(at, span.start))
      if (span.start >= this.#marked) passed += markOf(span)
      at = this.#marked = Math.min(span.end, cut)
    }
    passed += this.#text.slice(at, Math.max(at, cut))
    this.#passed = Math.max(at, cut)
    this.#forget(spans.at(-1))
    return passed
  }

  #forget(last: Span | undefined): void {
    if (this.#passed <= CONTEXT) return
    // From the beginning of a word, if there is one.
    let from = Math.max(this.#text.lastIndexOf(' ', this.#passed - CONTEXT), this.#passed - 2 * CONTEXT, 0)
    if (last && last.end >= this.#passed && this.#passed - last.start < MAX_CONTEXT)
      from = Math.min(from, last.start)
    this.#text = this.#text.slice(from)
    this.#passed -= from
    this.#marked = Math.max(0, this.#marked - from)
  }
}

/** No token has white space, a quote or what is no ASCII in it; outside of ASCII there may be no spaces between words. */
const isBoundary = (code: number) => code <= 32 || code === 34 || code === 39 || code === 96 || code > 126

function afterLastBoundary(text: string, from: number): number {
  let at = text.length
  while (at > from && !isBoundary(text.charCodeAt(at - 1))) at--
  return at
}

/** Where the end of the text is the beginning of the value, if it is. */
function startOfPart(text: string, value: string): number {
  const first = value.charAt(0)
  let at = text.indexOf(first, Math.max(0, text.length - value.length + 1))
  while (at !== -1 && !value.startsWith(text.slice(at))) at = text.indexOf(first, at + 1)
  return at === -1 ? text.length : at
}
