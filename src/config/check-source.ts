/** Holds one source against the schema. Everything that is wrong with it is reported, not only the first thing. */
import type { z } from 'zod'
import { nearestWord } from './nearest-word.ts'
import { type ConfigProblem, type SettingPath, showPath } from './problem.ts'
import { configSchema } from './schema.ts'
import { expectedAt, knownKeysAt, settingPaths } from './schema-path.ts'
import { problemAt, type Source } from './source.ts'

export function checkSource(source: Source): ConfigProblem[] {
  const { error } = configSchema.safeParse(source.value)
  return (error?.issues ?? []).flatMap((issue) => problemsOf(issue, source))
}

function problemsOf(issue: z.core.$ZodIssue, source: Source): ConfigProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => problemAt(source, [...issue.path, key], unknownKey(issue.path, key)))
  }
  if (issue.code === 'invalid_key') {
    const parent = issue.path.slice(0, -1)
    return [problemAt(source, issue.path, `is not a fitting name; expected ${expectedAt(parent)}`)]
  }
  // Several settings that do not fit together: what it says is more than what any one of them expects.
  if (issue.code === 'custom' && issue.params?.says) return [problemAt(source, issue.path, issue.message)]
  // Of several forms that a setting may have, the one that was meant fits on the outside.
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find((inner) => inner.some(({ path }) => path.length > 0)) ?? []
    const within = meant.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
    if (within.length > 0) return within.flatMap((inner) => problemsOf(inner, source))
  }
  const expected = expectedAt(issue.path) ?? issue.message
  return [problemAt(source, issue.path, `expected ${expected}; got ${showValue(source.value, issue.path)}`)]
}

function unknownKey(parent: SettingPath, key: string): string {
  const near = nearestWord(key, knownKeysAt(parent))
  const elsewhere = settingPaths().filter((path) => path.endsWith(`.${key}`))
  if (near) return `unknown key; did you mean ${showPath([...parent, near])}?`
  if (elsewhere.length > 0) return `unknown key; did you mean ${elsewhere.join(' or ')}?`
  return `unknown key; known here: ${knownKeysAt(parent).join(', ')}`
}

/** An address may hold a password, a header or a command a token; what is to be redacted or sent along is a secret. */
function isPrivate([section, second, key]: SettingPath): boolean {
  if (section === 'redact') return second === 'values'
  if (section === 'watches') return key === 'hookSecret' || key === 'webhook'
  return section === 'store' || key === 'env' || (section === 'notify' && key !== 'on')
}

/** Short, and never a value that may hold a password. */
function showValue(root: unknown, path: SettingPath): string {
  const value = path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    root,
  )
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (isPrivate(path)) return `a ${typeof value} (not shown)`
  const shown = JSON.stringify(value) ?? 'nothing'
  return shown.length > 60 ? `${shown.slice(0, 57)}…` : shown
}
