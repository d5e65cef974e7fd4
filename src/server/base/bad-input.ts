/** From what the schemas found wrong to one error that names every field and what was expected there. */
import type { z } from 'zod'
import { RepriseError } from '../../contract/errors.ts'

type Target = 'json' | 'query' | 'param' | 'header' | 'cookie' | 'form'

interface Problem {
  field: string
  message: string
}

const WHOLE: Readonly<Record<Target, string>> = {
  json: 'body',
  form: 'body',
  query: 'query',
  param: 'path',
  header: 'headers',
  cookie: 'cookies',
}

export function badInput(target: Target, issues: readonly z.core.$ZodIssue[]): RepriseError {
  const problems = issues.flatMap((issue) => problemsOf(issue, target))
  return new RepriseError(
    'bad-request',
    problems.map(({ field, message }) => `${field}: ${message}`).join('; '),
    { details: { in: WHOLE[target], problems } },
  )
}

function problemsOf(issue: z.core.$ZodIssue, target: Target): Problem[] {
  const field = issue.path.map(String).join('.') || WHOLE[target]
  if (issue.code === 'unrecognized_keys') {
    const within = issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}.`
    return issue.keys.map((key) => ({
      field: `${within}${shorten(key)}`,
      message: 'unknown, expected no such field',
    }))
  }
  if (issue.code === 'invalid_union') {
    // A form whose kind fits says what is wrong inside; if none does, say what kinds there are.
    const inside = issue.errors.find((form) => form.every((problem) => problem.path.length > 0))
    if (inside) {
      return inside.flatMap((problem) =>
        problemsOf({ ...problem, path: [...issue.path, ...problem.path] }, target),
      )
    }
    const kinds = issue.errors.flatMap((form) => form.slice(0, 1).map(wordOf))
    if (kinds.length > 0) return [{ field: shorten(field), message: kinds.join('; or ') }]
  }
  return [{ field: shorten(field), message: wordOf(issue) }]
}

/** Zod says "Invalid input: expected string, received undefined"; the first half adds nothing. */
function wordOf(issue: z.core.$ZodIssue): string {
  const message = issue.message
    .replace(/^Invalid (input|option|string): /, '')
    .replace(/received undefined$/, 'got nothing')
  return (
    message.charAt(0).toLowerCase() +
    message.slice(1).replace(', received NaN', '').replace(', received ', ', got ')
  )
}

/** A key is the caller's text: it may be a megabyte long. */
function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
