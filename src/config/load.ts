/**
 * Loads the configuration: config.yaml of the home, overridden by the environment, overridden by what a program that
 * embeds Reprise sets. The files of work directories (project.ts) are not part of it.
 * If any source is invalid, one `config-invalid` error lists all problems of all sources.
 */
import { join } from 'node:path'
import type { ConfiguredWatch } from '../core/watch/definition.ts'
import { checkAgents } from './check-agents.ts'
import { checkPolicy, promptPath } from './check-policy.ts'
import { checkSource } from './check-source.ts'
import type { Environment } from './environment.ts'
import { readEnvironmentSource } from './environment-source.ts'
import { tierEntries } from './policy-schema.ts'
import { type ConfigProblem, configError } from './problem.ts'
import { type Config, configSchema, defaultCooldowns, defaultTiers } from './schema.ts'
import type { Source } from './source.ts'
import { readWatches } from './watches.ts'
import { readYamlSource } from './yaml-source.ts'

export type LoadedConfig = {
  config: Config
  /** The watches of the configuration, ready to run. */
  watches: ConfiguredWatch[]
  /** The sources that set something, lowest precedence first. */
  sources: string[]
}

/** `home` and `cwd` are absolute paths. */
export function loadConfig({
  home,
  cwd,
  env,
  settings,
}: {
  home: string
  cwd: string
  env: Environment
  /** Settings of a program, in the form of config.yaml. */
  settings?: unknown
}): LoadedConfig {
  const problems: ConfigProblem[] = []
  const accept = (read: Source | ConfigProblem[] | undefined): Source[] => {
    const found = Array.isArray(read) ? read : read ? checkSource(read) : []
    problems.push(...found)
    return found.length > 0 || !read || Array.isArray(read) ? [] : [read]
  }

  const user = accept(readYamlSource(join(home, 'config.yaml')))
  const environment = accept(readEnvironmentSource(env))
  const program = accept(settings === undefined ? undefined : programSource(settings, cwd))

  if (problems.length > 0) throw configError(problems)

  const sources = [...user, ...environment, ...program]
  const config = overlay(sources)
  const { watches, problems: unfit } = readWatches(config, sources)
  const contradictions = [...checkAgents(config, sources), ...checkPolicy(config, sources), ...unfit]
  if (contradictions.length > 0) throw configError(contradictions)
  for (const [number, tier] of tierEntries(config.tiers)) {
    if (tier.promptFile !== undefined) tier.promptFile = promptPath(number, tier.promptFile, sources)
  }
  return { config, watches, sources: sources.filter(isUsed).map(({ name }) => name) }
}

/** The name is that of a file, because paths in settings are relative to the file that sets them. */
function programSource(value: unknown, cwd: string): Source {
  return { name: join(cwd, 'settings'), value, locate: () => ({ source: 'settings of the program' }) }
}

const isUsed = ({ value }: Source) => Object.keys(value as object).length > 0

function overlay(sources: readonly Source[]): Config {
  const defaults = { tiers: defaultTiers(), cooldowns: defaultCooldowns() }
  return configSchema.parse(sources.map(({ value }) => value).reduce(merge, defaults))
}

/** Mappings are merged key by key; lists and single values replace what was there. */
function merge(below: unknown, above: unknown): unknown {
  if (!isMapping(below) || !isMapping(above)) return above
  const merged = Object.entries(above).map(([key, value]) => [key, merge(below[key], value)] as const)
  return { ...below, ...Object.fromEntries(merged) }
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
