/** The configuration as a file would set it: durations and sizes with units, without values that may be secret. */
import { isPrivate } from './private-settings.ts'
import type { SettingPath } from './problem.ts'
import type { Config } from './schema.ts'
import { expectedAt } from './schema-path.ts'

const HIDDEN = '(hidden)'

const DURATIONS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
  [1, 'ms'],
] as const

const SIZES = [
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
  [2 ** 10, 'KiB'],
  [1, 'B'],
] as const

export function presentConfig(config: Config): unknown {
  return present(config, [])
}

function present(value: unknown, path: SettingPath): unknown {
  if (Array.isArray(value)) return isPrivate(path) ? value.map(() => HIDDEN) : value
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => [key, present(inner, [...path, key])])
    return Object.fromEntries(entries)
  }
  if (isPrivate(path)) return HIDDEN
  return typeof value === 'number' ? withUnit(value, path) : value
}

/** The largest unit of which it is a whole number, so that nothing is lost. */
function withUnit(value: number, path: SettingPath): unknown {
  const expected = expectedAt(path) ?? ''
  const units = expected.startsWith('a duration') ? DURATIONS : expected.startsWith('a size') ? SIZES : []
  const found = value === 0 ? units.at(-1) : units.find(([size]) => value % size === 0)
  return found ? `${value / found[0]}${found[1]}` : value
}
