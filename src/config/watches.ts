/** Turns the settings of watches into definitions: reads files, makes paths absolute, and reports problems where they were written. */
import { readFileSync, statSync } from 'node:fs'
import { WatchDefinition } from '../contract/watch.ts'
import { checkWatch } from '../core/watch/check.ts'
import type { ConfiguredWatch } from '../core/watch/definition.ts'
import { tierEntries } from './policy-schema.ts'
import type { ConfigProblem } from './problem.ts'
import type { Config } from './schema.ts'
import { beside, problemAt, type Source, writerOf } from './source.ts'

type Settings = Config['watches'][string]

/** Settings whose name in the definition differs. */
const KEYS = {
  every: 'everyMs',
  everyWhileNotHealthy: 'everyWhileNotHealthyMs',
  jitter: 'jitterMs',
  budgetUsd: 'maxBudgetUsd',
  budgetUsdPerDay: 'maxBudgetUsdPerDay',
  maxDuration: 'maxDurationMs',
  dedupe: 'dedupeMs',
  renewAfter: 'renewAfterMs',
} as const satisfies Partial<Record<keyof Settings, keyof WatchDefinition>>

const SETTINGS = new Map<string, string>(Object.entries(KEYS).map(([setting, key]) => [key, setting]))

type Refuse = (key: string, message: string) => void

/** Every source must match the schema. */
export function readWatches(
  config: Config,
  sources: readonly Source[],
): { watches: ConfiguredWatch[]; problems: ConfigProblem[] } {
  const problems: ConfigProblem[] = []
  const around = {
    highestTier: Math.max(...tierEntries(config.tiers).map(([number]) => Number(number))),
    notifyTargets: Object.keys(config.notify),
  }
  const watches = Object.entries(config.watches).flatMap(([name, settings]) => {
    const refuse: Refuse = (key, message) => {
      const path = ['watches', name, key]
      problems.push(problemAt(writerOf(sources, path), path, message))
    }
    const definition = definitionOf(name, settings, sources, refuse)
    if (!definition) return []
    for (const { key, problem, hint } of checkWatch(definition, around)) {
      refuse(SETTINGS.get(key) ?? key, hint === undefined ? problem : `${problem}; ${hint}`)
    }
    return [{ name, definition, paused: settings.paused }]
  })
  return { watches, problems }
}

function definitionOf(
  name: string,
  { paused, promptFile, environmentFile, ...settings }: Settings,
  sources: readonly Source[],
  refuse: Refuse,
): WatchDefinition | null {
  const read = (key: 'promptFile' | 'environmentFile', file: string | undefined) => {
    if (file === undefined) return undefined
    const result = readText(beside(sources, ['watches', name, key], file))
    if ('text' in result) return result.text
    refuse(key, result.problem)
    return null
  }
  const prompt = read('promptFile', promptFile)
  const environment = read('environmentFile', environmentFile)
  // Only a shell expands ~; a directory of that name is hardly ever meant.
  const isTilde = settings.workDir.startsWith('~')
  if (isTilde) refuse('workDir', '~ is not expanded here; write the full path')
  if (prompt === null || environment === null || isTilde) return null

  const renamed = Object.entries(settings).map(([key, value]) => [
    KEYS[key as keyof typeof KEYS] ?? key,
    value,
  ])
  const { data, error } = WatchDefinition.safeParse({
    ...Object.fromEntries(renamed),
    ...(prompt !== undefined && { prompt }),
    ...(environment !== undefined && { environment }),
    workDir: beside(sources, ['watches', name, 'workDir'], settings.workDir),
  })
  for (const { path, message } of error?.issues ?? []) {
    const key = String(path[0])
    const isFile = environment !== undefined && key === 'environment'
    refuse(isFile ? 'environmentFile' : (SETTINGS.get(key) ?? key), message)
  }
  return data ?? null
}

const LARGEST_BYTES = 1024 * 1024

function readText(file: string): { text: string } | { problem: string } {
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (!stats?.isFile()) return { problem: `there is no file ${file}` }
    if (stats.size > LARGEST_BYTES) return { problem: `${file} is larger than ${LARGEST_BYTES} bytes` }
    const text = readFileSync(file, 'utf8')
    return text.trim() === '' ? { problem: `${file} is empty` } : { text }
  } catch (error) {
    return { problem: `${file} cannot be read: ${(error as Error).message}` }
  }
}
