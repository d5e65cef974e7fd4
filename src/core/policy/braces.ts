/** Brace expansion, which a shell does on the raw text before anything else: `{rm,-rf}` is two words. */
import { nested, spend } from './budget.ts'

const MOST = 64

/** The raw words that a raw word stands for; `undefined` when there are too many. */
export function expandBraces(raw: string): string[] | undefined {
  return nested(() => expand(raw))
}

function expand(raw: string): string[] | undefined {
  spend(raw.length)
  const open = findBrace(raw)
  if (!open) return [raw]
  const { from, to, items } = open
  const before = raw.slice(0, from)
  const after = expandBraces(raw.slice(to + 1))
  if (!after) return undefined
  const words: string[] = []
  for (const item of items) {
    const inner = expandBraces(item)
    if (!inner) return undefined
    for (const middle of inner)
      for (const end of after) {
        spend(before.length + middle.length + end.length)
        words.push(before + middle + end)
      }
    if (words.length > MOST) return undefined
  }
  return words
}

/** The first brace that expands, and what it holds. Quoted text, `$…{` and `\{` do not count. */
function findBrace(raw: string): { from: number; to: number; items: string[] } | undefined {
  for (let from = 0; from < raw.length; from = skip(raw, from)) {
    if (raw[from] !== '{') continue
    const closed = closeBrace(raw, from)
    if (!closed) continue
    const items = closed.commas.length > 0 ? split(raw, from, closed) : range(raw.slice(from + 1, closed.to))
    if (items) return { from, to: closed.to, items }
  }
  return undefined
}

function closeBrace(raw: string, from: number): { to: number; commas: number[] } | undefined {
  const commas: number[] = []
  let depth = 0
  for (let at = from; at < raw.length; at = skip(raw, at)) {
    spend(1)
    if (raw[at] === '{') depth++
    else if (raw[at] === ',' && depth === 1) commas.push(at)
    else if (raw[at] === '}' && --depth === 0) return { to: at, commas }
  }
  return undefined
}

function split(raw: string, from: number, { to, commas }: { to: number; commas: number[] }): string[] {
  return [...commas, to].map((end, index) => raw.slice((commas[index - 1] ?? from) + 1, end))
}

function range(text: string): string[] | undefined {
  const found = /^(-?\d+|[a-zA-Z])\.\.(-?\d+|[a-zA-Z])(?:\.\.(-?\d+))?$/.exec(text)
  if (!found) return undefined
  const [, first = '', last = '', step = '1'] = found
  const letters = /[a-zA-Z]/.test(first) && /[a-zA-Z]/.test(last)
  const start = letters ? first.charCodeAt(0) : Number(first)
  const end = letters ? last.charCodeAt(0) : Number(last)
  const by = Math.max(1, Math.abs(Number(step)))
  if (Number.isNaN(start) || Number.isNaN(end) || Math.abs(end - start) / by > MOST) return undefined
  const values: string[] = []
  for (let value = start; start <= end ? value <= end : value >= end; value += start <= end ? by : -by) {
    values.push(letters ? String.fromCharCode(value) : String(value))
  }
  return values
}

/** The next place that is not inside quotes, an expansion or an escape. */
function skip(raw: string, at: number): number {
  const char = raw[at]
  if (char === '\\') return at + 2
  if (char === "'") return afterQuote(raw, at, "'")
  if (char === '"') return afterQuote(raw, at, '"')
  if (char === '$' && raw[at + 1] === "'") return afterQuote(raw, at + 1, "'", true)
  if (char === '$' && raw[at + 1] === '{') return (nested(() => closeBrace(raw, at + 1))?.to ?? at + 1) + 1
  return at + 1
}

function afterQuote(raw: string, from: number, quote: string, escapes = quote === '"'): number {
  for (let at = from + 1; at < raw.length; at++) {
    if (escapes && raw[at] === '\\') at++
    else if (raw[at] === quote) return at + 1
  }
  return raw.length
}
