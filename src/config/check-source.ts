/** Checks one source against the schema. All problems are reported, not only the first one. */
import type { z } from 'zod'
import { MOVED } from './keep-schema.ts'
import { nearestWord } from './nearest-word.ts'
import { isPrivate } from './private-settings.ts'
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
    return [problemAt(source, issue.path, `is not a valid name; expected ${expectedAt(parent)}`)]
  }
  // A check over several settings has its own message, which says more than the expectation of one of them.
  if (issue.code === 'custom' && issue.params?.says) return [problemAt(source, issue.path, issue.message)]
  // If a setting may have several forms, the error is reported for the form whose outer shape fits.
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find((inner) => inner.some(({ path }) => path.length > 0)) ?? []
    const within = meant.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
    if (within.length > 0) return within.flatMap((inner) => problemsOf(inner, source))
  }
  const expected = expectedAt(issue.path) ?? issue.message
  return [problemAt(source, issue.path, `expected ${expected}; got ${showValue(source.value, issue.path)}`)]
}

function unknownKey(parent: SettingPath, key: string): string {
  const moved = MOVED.get(showPath([...parent, key]))
  if (moved) return `is now called ${moved}`
  const near = nearestWord(key, knownKeysAt(parent))
  const elsewhere = settingPaths().filter((path) => path.endsWith(`.${key}`))
  if (near) return `unknown key; did you mean ${showPath([...parent, near])}?`
  if (elsewhere.length > 0) return `unknown key; did you mean ${elsewhere.join(' or ')}?`
  return `unknown key; known here: ${knownKeysAt(parent).join(', ')}`
}

/** A short form of the value, without values that may contain secrets. */
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
