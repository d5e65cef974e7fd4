/** Checks that the merged tiers, policy and cooldowns are consistent. A problem is reported where its setting was written. */
import { statSync } from 'node:fs'
import { forAgent } from '../core/escalation/tier.ts'
import { compilePattern } from '../core/rules/pattern.ts'
import { names } from '../core/shell/tool-names.ts'
import { agentNames } from './agent-names.ts'
import { fileProblems } from './check-files.ts'
import { checkTierAgents } from './check-tier-agents.ts'
import { type TierConfig, tierEntries } from './policy-schema.ts'
import type { ConfigProblem, SettingPath } from './problem.ts'
import type { Config } from './schema.ts'
import { beside, holds, problemAt, type Source, writerOf } from './source.ts'

export function checkPolicy(config: Config, sources: readonly Source[]): ConfigProblem[] {
  const numbers = tierEntries(config.tiers).map(([number]) => Number(number))
  const problem = (path: SettingPath, message: string) => problemAt(writerOf(sources, path), path, message)
  const skipped = numbers
    .filter((number) => number > 1 && !numbers.includes(number - 1))
    .map((number) =>
      problem(
        ['tiers', String(number)],
        `there is no tier ${number - 1}; tiers must be numbered 1, 2, 3, … without gaps`,
      ),
    )
  return [
    ...skipped,
    ...checkTierAgents(config).map(({ path, message }) => problem(path, message)),
    ...tierEntries(config.tiers).flatMap(([number, tier]) => [
      ...incomplete(tier).map((message) => problem(['tiers', number], message)),
      ...contradictions(tier.commands ?? {}, config.policy.never).map((message) =>
        problem(['tiers', number, 'commands', 'allow'], message),
      ),
      ...missingPrompt(number, tier, sources).map((message) =>
        problem(['tiers', number, 'promptFile'], message),
      ),
      ...fileProblems(tier).map(({ key, message }) => problem(['tiers', number, 'files', key], message)),
      ...deniedAsWell(number, tier, config, sources).map((message) =>
        problem(['tiers', number, 'deniedTools'], message),
      ),
    ]),
    ...Object.entries(config.cooldowns).flatMap(([name, rule]) =>
      (['match', 'limit', 'per'] as const)
        .filter((key) => rule[key] === undefined)
        .map((key) => problem(['cooldowns', name], `needs ${key}; only restart and redeploy have a default`)),
    ),
  ]
}

type Tier = TierConfig

function incomplete({ model, tools }: Tier): string[] {
  return [
    ...(model === undefined ? ['needs model; only the tiers 1, 2 and 3 have a default'] : []),
    ...(tools === undefined ? ['needs tools, such as [Bash, Read, Grep]'] : []),
  ]
}

/** Denying a tool of the default list is fine; denying one that the same tier lists explicitly is a contradiction. */
function deniedAsWell(number: string, tier: Tier, config: Config, sources: readonly Source[]): string[] {
  if (!sources.some(({ value }) => holds(value, ['tiers', number, 'tools']))) return []
  const both = agentNames(config).flatMap((agent) => {
    const denied = forAgent(tier.deniedTools, agent) ?? []
    return (forAgent(tier.tools, agent) ?? []).filter((tool) => names(denied, tool))
  })
  return [...new Set(both)].map(
    (tool) => `denies ${tool}, which tools of the same tier contains: remove one of the two`,
  )
}

function contradictions({ allow = [], deny = [] }: NonNullable<Tier['commands']>, never: readonly string[]) {
  const key = (source: string) => {
    const result = compilePattern(source)
    if (!result.ok) return source
    const { program, operands, options, open } = result.pattern
    return JSON.stringify([program, operands, [...options].sort(), open])
  }
  const denied = new Map(deny.map((source) => [key(source), 'denies']))
  for (const source of never) denied.set(key(source), 'policy.never forbids')
  return allow.flatMap((source) => {
    const by = denied.get(key(source))
    if (!by) return []
    const who = by === 'denies' ? 'the same tier denies it' : `${by} it`
    return [`allows "${source}", but ${who}: remove one of the two`]
  })
}

function missingPrompt(number: string, { promptFile }: Tier, sources: readonly Source[]): string[] {
  if (promptFile === undefined) return []
  const file = promptPath(number, promptFile, sources)
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? [] : [`there is no file ${file}`]
}

/** The path is relative to the file in which it is written. */
export function promptPath(number: string, promptFile: string, sources: readonly Source[]): string {
  return beside(sources, ['tiers', number, 'promptFile'], promptFile)
}
