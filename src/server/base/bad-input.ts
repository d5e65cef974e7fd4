/** Turns the issues of a schema into one error that names every field and what was expected there. */
import type { z } from 'zod'
import { RepriseError } from '../../contract/errors.ts'

/** The part of a request. */
export type Target = 'body' | 'query' | 'path' | 'headers'

interface Problem {
  field: string
  message: string
}

export function badInput(target: Target, issues: readonly z.core.$ZodIssue[]): RepriseError {
  const problems = issues.flatMap((issue) => problemsOf(issue, target))
  return new RepriseError(
    'bad-request',
    problems.map(({ field, message }) => `${field}: ${message}`).join('; '),
    { details: { in: target, problems } },
  )
}

function problemsOf(issue: z.core.$ZodIssue, target: Target): Problem[] {
  const field = issue.path.map(String).join('.') || target
  if (issue.code === 'unrecognized_keys') {
    const within = issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}.`
    return issue.keys.map((key) => ({
      field: `${within}${shorten(key)}`,
      message: 'unknown field',
    }))
  }
  if (issue.code === 'invalid_union') {
    // If one member of the union fits by its kind, report the problems inside it; otherwise list the kinds.
    const inside = issue.errors.find((form) => form.every((problem) => problem.path.length > 0))
    if (inside) {
      return inside.flatMap((problem) =>
        problemsOf({ ...problem, path: [...issue.path, ...problem.path] }, target),
      )
    }
    const kinds = issue.errors.flatMap((form) => form.slice(0, 1).map(messageOf))
    if (kinds.length > 0) return [{ field: shorten(field), message: kinds.join('; or ') }]
  }
  return [{ field: shorten(field), message: messageOf(issue) }]
}

/** Zod says "Invalid input: expected string, received undefined"; only the second half is kept. */
function messageOf(issue: z.core.$ZodIssue): string {
  const message = issue.message
    .replace(/^Invalid (input|option|string): /, '')
    .replace(/received undefined$/, 'got nothing')
  return (
    message.charAt(0).toLowerCase() +
    message.slice(1).replace(', received NaN', '').replace(', received ', ', got ')
  )
}

/** A key comes from the caller and may be a megabyte long. */
function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
