/**
 * Restrictions for `./reprise.yaml`. It may be part of a cloned repository and thus written by a stranger, and it is
 * read merely because someone works in that directory. So it cannot set anything that is executed or starts on its own
 * (watches), nor where Reprise listens, stores or sends data. It can only narrow what agents may do: its `policy` is
 * added to that of the user.
 */
import { PERMISSION_MODES } from '../contract/create-run.ts'
import type { ConfigProblem } from './problem.ts'
import { type Config, configSchema } from './schema.ts'
import { problemAt, type Source } from './source.ts'

const HOME_ONLY = [
  ['server', 'host'],
  ['server', 'publicUrl'],
  ['server', 'trustedProxies'],
  ['store', 'url'],
  ['agents', '*', 'command'],
  ['agents', '*', 'args'],
  ['agents', '*', 'env'],
  ['run', 'sandboxKind'],
  ['notify'],
  ['webhooks'],
  ['tiers'],
  ['broker'],
  ['cooldowns'],
  ['escalation'],
  ['redact'],
  ['watches'],
  ['followUps'],
  ['keep'],
  ['disk'],
] as const

/** `source` must match the schema; `without` is the configuration without it. */
export function checkProjectLimits(source: Source, without: Config, homeFile: string): ConfigProblem[] {
  const refused = HOME_ONLY.flatMap((pattern) => pathsMatching(source.value, pattern)).map((path) =>
    problemAt(source, path, `cannot be set in a project file: move it to ${homeFile}`),
  )
  const widened = widenedSettings(configSchema.parse(source.value), source.value, without).map(
    ({ path, limit }) =>
      problemAt(
        source,
        path,
        `can only be made stricter in a project file (your setting is ${limit}): change it in ${homeFile}`,
      ),
  )
  return [...refused, ...widened]
}

function widenedSettings(asked: Config, raw: unknown, without: Config): { path: string[]; limit: unknown }[] {
  const strictness = (config: Config) => PERMISSION_MODES.indexOf(config.run.permissions)
  return [
    {
      path: ['run', 'permissions'],
      limit: without.run.permissions,
      wider: strictness(asked) > strictness(without),
    },
    {
      path: ['run', 'sandbox'],
      limit: without.run.sandbox,
      wider: without.run.sandbox === 'on' && asked.run.sandbox === 'off',
    },
    { path: ['dryRun'], limit: without.dryRun, wider: without.dryRun && !asked.dryRun },
    { path: ['maxTier'], limit: without.maxTier, wider: asked.maxTier > without.maxTier },
  ].filter(({ path, wider }) => wider && pathsMatching(raw, path).length > 0)
}

function pathsMatching(value: unknown, [first, ...rest]: readonly string[]): string[][] {
  if (first === undefined) return [[]]
  if (typeof value !== 'object' || value === null) return []
  const keys = first === '*' ? Object.keys(value) : Object.hasOwn(value, first) ? [first] : []
  return keys.flatMap((key) =>
    pathsMatching((value as Record<string, unknown>)[key], rest).map((path) => [key, ...path]),
  )
}
