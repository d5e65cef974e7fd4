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
  const touchesMark = ({ start, end }: Span) =>
    marks.some((mark) => start < mark.index + mark[0].length && mark.index < end)
  const merged: Span[] = []
  const inOrder = found.toSorted((a, b) => a.start - b.start || b.end - a.end)
  for (const span of marks.length === 0 ? inOrder : inOrder.filter((s) => !touchesMark(s))) {
    const last = merged.at(-1)
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end)
    else merged.push({ ...span })
  }
  return merged
}

export function withoutSpans(text: string, spans: readonly Span[]): string {
  let rest = 0
  let result = ''
  for (const span of spans) {
    result += text.slice(rest, span.start) + markOf(span)
    rest = span.end
  }
  return result + text.slice(rest)
}
