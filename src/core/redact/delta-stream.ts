/**
 * Redacts text that arrives in pieces. The end of a piece may split a secret, so the last word is held back until it is
 * complete; everything before it is passed on at once. The end of the text that was passed on is remembered as context,
 * because it may announce a secret (`Authorization: Bearer `). The passed pieces together are the redacted text, with
 * one exception: a pattern that spans white space may match only after its beginning was passed on.
 */
import { afterLastBoundary, isPlain } from './plain-words.ts'
import { startOfUnfinishedKey } from './private-key.ts'
import type { Redactor } from './redactor.ts'
import { markOf, type Span } from './spans.ts'

/** A longer word is passed on in parts, so that a megabyte without a space is not held back. */
const MAX_HELD = 2048
const CONTEXT = 48
/** While a private key grows, it is remembered up to this length. */
const MAX_CONTEXT = 32_768

export class DeltaStream {
  readonly #redactor: Redactor
  /** The user's patterns or values may match plain words, so plain words must be checked too. */
  readonly #checksPlainWords: boolean
  readonly #spaced: readonly string[]
  /** The remembered end of the text that was passed on. */
  #before = ''
  #held = ''
  /** How much of the remembered text the last `[redacted]` mark replaces. */
  #marked = 0
  #inKey = false

  constructor(redactor: Redactor) {
    this.#redactor = redactor
    this.#checksPlainWords = redactor.hasPatterns || redactor.values.some(isPlain)
    this.#spaced = redactor.values.filter((value) => afterLastBoundary(value, 0) > 0)
  }

  /** Returns the text that can be passed on now. */
  push(piece: string): string {
    const unseen = this.#held + piece
    // Fast path: most text is prose.
    if (!this.#inKey && !this.#checksPlainWords && unseen.length <= MAX_HELD && this.#isInnocent(unseen)) {
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
      // The key is too long to be held back: what has arrived of it is redacted now, and the rest when it arrives.
      const span = spans.find(({ start }) => start === key)
      if (span) span.end = text.length
      return this.#pass(text, span ? text.length : this.#cut(text, spans), spans)
    }
    return this.#pass(text, Math.min(key, this.#cut(text, spans)), spans)
  }

  /** Returns the rest of the text at the end of the stream. */
  flush(): string {
    const text = this.#before + this.#held
    const rest = this.#held === '' ? '' : this.#pass(text, text.length, this.#redactor.find(text))
    this.#before = this.#held = ''
    this.#marked = 0
    this.#inKey = false
    return rest
  }

  /** Whether the text is plain, and nothing announces that it may be a secret nevertheless. */
  #isInnocent(unseen: string): boolean {
    return isPlain(unseen) && this.#redactor.findAnnounced(this.#before + unseen) === -1
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
    const announced = this.#redactor.findAnnounced(before)
    if (announced !== -1) from = Math.min(from, announced)
    this.#before = from === 0 ? before : before.slice(from)
    this.#marked = Math.max(0, this.#marked - from)
  }
}

/** The index from which the end of the text is a prefix of the value; the length of the text if there is none. */
function startOfPart(text: string, value: string): number {
  const first = value.charAt(0)
  let at = text.indexOf(first, Math.max(0, text.length - value.length + 1))
  while (at !== -1 && !value.startsWith(text.slice(at))) at = text.indexOf(first, at + 1)
  return at === -1 ? text.length : at
}
