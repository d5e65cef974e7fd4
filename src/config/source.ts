/** A source of settings: its raw value, and the place of each setting in it. */
import { dirname, resolve } from 'node:path'
import { type ConfigProblem, type SettingPath, showPath } from './problem.ts'

export type Place = Pick<ConfigProblem, 'source' | 'line' | 'column'>

export type Source = {
  name: string
  value: unknown
  /** The place of a setting; if it is not set, that of the nearest enclosing one. */
  locate(path: SettingPath): Place
}

export function problemAt(source: Source, path: SettingPath, message: string): ConfigProblem {
  return { ...source.locate(path), key: showPath(path), message }
}

/** The last source that sets the setting, or a setting that encloses it. */
export function writerOf(sources: readonly Source[], path: SettingPath): Source {
  for (let depth = path.length; depth > 0; depth--) {
    const found = sources.findLast(({ value }) => holds(value, path.slice(0, depth)))
    if (found) return found
  }
  return sources.at(-1) ?? { name: 'defaults', value: {}, locate: () => ({ source: 'defaults' }) }
}

export function holds(value: unknown, [first, ...rest]: SettingPath): boolean {
  if (first === undefined) return true
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, first)) return false
  return holds((value as Record<PropertyKey, unknown>)[first], rest)
}

/** Resolves a path in a setting, relative to the file in which it is written. */
export function beside(sources: readonly Source[], setting: SettingPath, path: string): string {
  return resolve(dirname(writerOf(sources, setting).name), path)
}
