/** Rules, made ready once, to be asked often. */

import { type CooldownSettings, type Cooldowns, compileCooldowns } from './cooldown.ts'
import { compilePathPattern, PathIndex } from './path-patterns.ts'
import { type CommandPattern, compilePattern, type Spoken, spokenForms } from './pattern.ts'
import { names } from './tool-names.ts'

/** What may be run at a tier. With `allow`, only that and what merely looks. */
export interface TierRules {
  name: string
  tools: readonly string[]
  /** Taken away, whatever `tools` says. */
  deniedTools?: readonly string[] | undefined
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
}

export interface PolicyRules {
  /** Forbidden at every tier. */
  never: readonly string[]
  /** Patterns of files that no tier may change. */
  protectedPaths: readonly string[]
  /** Protected besides, whatever is configured: what the policy itself rests on. */
  alwaysProtected?: readonly string[]
  cooldowns?: Readonly<Record<string, CooldownSettings>>
}

export interface Forbidding {
  pattern: CommandPattern
  rule: 'never' | 'deny'
  /** How a text speaks of it. */
  spoken: readonly Spoken[]
}

export interface Policy {
  /** Without one, only what no tier may do is refused. */
  tier: string | undefined
  tools: readonly string[]
  deniedTools: readonly string[]
  mayWrite: boolean
  forbidding: readonly Forbidding[]
  /** By program. */
  forbiddingBy: ReadonlyMap<string, readonly Forbidding[]>
  allowing: ReadonlyMap<string, readonly CommandPattern[]>
  /** What a text has that speaks of something forbidden: the name of a program. */
  forbiddenNames: RegExp
  /** Whether only what is allowed may run, so that what cannot be understood may not. */
  restricts: boolean
  protectedPaths: PathIndex
  cooldowns: Cooldowns
}

/** Expects patterns that were checked when the configuration was loaded; throws for others. */
export function compilePolicy(rules: PolicyRules, tier: TierRules | undefined, home: string): Policy {
  const forbidding = [
    ...rules.never.map((source) => forbiddingBy(source, 'never')),
    ...(tier?.deny ?? []).map((source) => forbiddingBy(source, 'deny')),
  ]
  const deniedTools = tier?.deniedTools ?? []
  const tools = (tier?.tools ?? []).filter((tool) => !names(deniedTools, tool))
  return {
    tier: tier?.name,
    tools,
    deniedTools,
    mayWrite: tools.includes('Write') || tools.includes('Edit'),
    forbidding,
    forbiddingBy: Map.groupBy(forbidding, ({ pattern }) => pattern.program),
    allowing: Map.groupBy((tier?.allow ?? []).map(compiled), ({ program }) => program),
    forbiddenNames: anyOf(forbidding.flatMap(({ spoken }) => spoken.map(([name = '']) => name))),
    restricts: tier?.allow !== undefined,
    protectedPaths: new PathIndex([
      ...rules.protectedPaths.map((source) => compilePathPattern(source, home)),
      ...(rules.alwaysProtected ?? []).map((source) => compilePathPattern(source, home, true)),
    ]),
    cooldowns: compileCooldowns(rules.cooldowns ?? {}),
  }
}

/** Of none, nothing. */
function anyOf(names: readonly string[]): RegExp {
  const escaped = [...new Set(names)].map((name) => name.replaceAll(/[^\w-]/g, '\\$&'))
  return new RegExp(escaped.join('|') || '(?!)')
}

function forbiddingBy(source: string, rule: Forbidding['rule']): Forbidding {
  const pattern = compiled(source)
  const { program, operands, options } = pattern
  const words = [program, ...operands, ...options].filter((word) => !/[*?]/.test(word))
  return { pattern, rule, spoken: spokenForms(words) }
}

function compiled(source: string): CommandPattern {
  const result = compilePattern(source)
  if (!result.ok)
    throw new Error(`the command pattern ${JSON.stringify(source)} cannot be understood: ${result.problem}`)
  return result.pattern
}
