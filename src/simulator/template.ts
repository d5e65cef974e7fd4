/**
 * Replaces `${user}`, `${toolResult}`, `${model}`, `${n}`, `${group}` and `$1`… in scripted texts and tool inputs.
 * Unknown placeholders stay as written, so that shell commands may use `$1` and `${HOME}`; `$${user}` is a literal
 * `${user}`.
 */
import type { Captures } from './match.ts'
import type { MessagesRequest } from './messages-request.ts'

export type Fill = (text: string) => string

export function createFill(request: MessagesRequest, captures: Captures, n: number): Fill {
  const values: Record<string, string> = {
    ...captures.named,
    user: request.userText,
    toolResult: request.toolResults.map((result) => result.text).join('\n'),
    model: request.body.model,
    n: String(n),
  }
  return (text) =>
    text.replace(/\$(\$\{\w+\})|\$\{(\w+)\}|\$([1-9])/g, (whole, escaped, name, digit) => {
      if (escaped !== undefined) return escaped
      if (name !== undefined) return Object.hasOwn(values, name) ? (values[name] ?? whole) : whole
      return captures.numbered[Number(digit) - 1] ?? whole
    })
}

export function fillDeep(value: unknown, fill: Fill): unknown {
  if (typeof value === 'string') return fill(value)
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, fill))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fillDeep(inner, fill)]))
}
