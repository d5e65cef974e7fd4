/** Spans: the parts of a text that are secrets. */
export interface Span {
  start: number
  end: number
  /** The kind of secret; empty for configured values and patterns. */
  kind: string
}

const MARK = /\[redacted(?:: [a-z-]{1,40})?\]/g

export const markOf = ({ kind }: Span): string => (kind ? `[redacted: ${kind}]` : '[redacted]')

/** Returns the spans in order, without overlaps, and without those that touch an existing `[redacted]` mark. */
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
