/** Which parts of a text are secrets, and the text without them. */
export interface Span {
  start: number
  end: number
  /** Empty: one that was configured, of which nothing more is known. */
  kind: string
}

const MARK = /\[redacted(?:: [a-z-]{1,40})?\]/g

export const markOf = ({ kind }: Span): string => (kind ? `[redacted: ${kind}]` : '[redacted]')

/** In order, without overlaps. What is a mark of ours already stays one. */
export function mergeSpans(text: string, found: readonly Span[]): Span[] {
  const marks = text.includes('[redacted') ? [...text.matchAll(MARK)] : []
  const merged: Span[] = []
  let mark = 0
  for (const span of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    while (mark < marks.length && endOf(marks[mark]) <= span.start) mark++
    if ((marks[mark]?.index ?? Number.POSITIVE_INFINITY) < span.end) continue
    const last = merged.at(-1)
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end)
    else merged.push({ ...span })
  }
  return merged
}

const endOf = (match: RegExpExecArray | undefined) => (match ? match.index + match[0].length : 0)

export function withoutSpans(text: string, spans: readonly Span[]): string {
  let rest = 0
  let result = ''
  for (const span of spans) {
    result += text.slice(rest, span.start) + markOf(span)
    rest = span.end
  }
  return result + text.slice(rest)
}
