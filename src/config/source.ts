/** A place that settings come from: their raw value, and where in the source each of them stands. */
import { type ConfigProblem, type SettingPath, showPath } from './problem.ts'

export type Place = Pick<ConfigProblem, 'source' | 'line' | 'column'>

export type Source = {
  name: string
  value: unknown
  /** Where the setting stands; for a setting that is not there, the nearest enclosing one. */
  locate(path: SettingPath): Place
}

export function problemAt(source: Source, path: SettingPath, message: string): ConfigProblem {
  return { ...source.locate(path), key: showPath(path), message }
}
