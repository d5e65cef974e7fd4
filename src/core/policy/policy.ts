/** Rules, made ready once, to be asked often. */

import { compilePathPattern, type PathPattern } from './paths.ts'
import { type CommandPattern, compilePattern } from './pattern.ts'

/** What may be run at a tier. With `allow`, only that and what merely looks. */
export interface TierRules {
  name: string
  tools: readonly string[]
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
}

export interface PolicyRules {
  /** Forbidden at every tier. */
  never: readonly string[]
  /** Patterns of files that no tier may change. */
  protectedPaths: readonly string[]
}

export interface Policy {
  tier: string | undefined
  tools: readonly string[]
  never: readonly CommandPattern[]
  deny: readonly CommandPattern[]
  allow: readonly CommandPattern[]
  /** Whether only what is allowed may run, so that what cannot be understood may not. */
  restricts: boolean
  protectedPaths: readonly PathPattern[]
}

/** Expects patterns that were checked when the configuration was loaded; throws for others. */
export function compilePolicy(rules: PolicyRules, tier: TierRules | undefined, home: string): Policy {
  return {
    tier: tier?.name,
    tools: tier?.tools ?? [],
    never: rules.never.map(compiled),
    deny: (tier?.deny ?? []).map(compiled),
    allow: (tier?.allow ?? []).map(compiled),
    restricts: tier?.allow !== undefined,
    protectedPaths: rules.protectedPaths.map((source) => compilePathPattern(source, home)),
  }
}

function compiled(source: string): CommandPattern {
  const result = compilePattern(source)
  if (!result.ok)
    throw new Error(`the command pattern ${JSON.stringify(source)} cannot be understood: ${result.problem}`)
  return result.pattern
}
