/** The rules for one run, compiled once and asked often. */
import type { CooldownSettings } from '../rules/cooldown.ts'
import { type CompiledRules, compileRules } from '../rules/rules.ts'
import { compileMention, type Mention } from './mentions.ts'
import { compileProtectedPaths, type ProtectedPaths, type ProtectedRules } from './protected-paths.ts'
import { hasWritingTool, names } from './tool-names.ts'

/**
 * Who holds the rules. `kernel`: a sandbox holds what the agent can touch, and a broker judges what acts on the world.
 * `advisory`: there is no sandbox, so reading the text is all there is.
 */
export type Enforcement = 'kernel' | 'advisory'

/** What may be run at a tier. With `allow`, only that and what only looks. */
export interface TierRules {
  name: string
  tools: readonly string[]
  /** Taken away, whatever `tools` says. */
  deniedTools?: readonly string[] | undefined
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
}

export interface RuleSettings extends ProtectedRules {
  /** Forbidden at every tier. */
  never: readonly string[]
  cooldowns?: Readonly<Record<string, CooldownSettings>>
}

export interface ToolRules {
  enforcement: Enforcement
  /** Without one, only what no tier may do is refused. */
  tier: string | undefined
  tools: readonly string[]
  deniedTools: readonly string[]
  mayWrite: boolean
  /** Only what is allowed may run, so that what cannot be understood may not. */
  restricts: boolean
  /** For calls of programs. */
  calls: CompiledRules
  /** The same without `allow`: what is forbidden, whatever else is allowed. */
  forbidding: CompiledRules
  protectedPaths: ProtectedPaths
  /** Programs that exist in the sandbox only as shims, and are judged when they start. */
  brokered: ReadonlySet<string>
  /** How a text speaks of what is forbidden or counted. */
  mentions: readonly Mention[]
}

export interface ToolRuleOptions {
  home: string
  enforcement: Enforcement
  /** Programs that the broker judges. */
  brokered: readonly string[]
}

/** Expects patterns that were checked when the configuration was loaded; throws for others. */
export function compileToolRules(
  settings: RuleSettings,
  tier: TierRules | undefined,
  { home, enforcement, brokered }: ToolRuleOptions,
): ToolRules {
  const { never, cooldowns = {} } = settings
  const deniedTools = tier?.deniedTools ?? []
  const tools = (tier?.tools ?? []).filter((tool) => !names(deniedTools, tool))
  const shared = { never, cooldowns, dryRun: false }
  return {
    enforcement,
    tier: tier?.name,
    tools,
    deniedTools,
    mayWrite: hasWritingTool(tools, deniedTools),
    restricts: tier?.allow !== undefined,
    calls: compileRules({ ...shared, tier: tier ?? null }),
    forbidding: compileRules({ ...shared, tier: tier ? { ...tier, allow: undefined } : null }),
    protectedPaths: compileProtectedPaths(settings, home),
    brokered: new Set(brokered),
    mentions: [
      ...never.map((source) => compileMention(source, source)),
      ...(tier?.deny ?? []).map((source) => compileMention(source, source)),
      ...Object.entries(cooldowns).flatMap(([name, { match }]) =>
        match.map((source) => compileMention(source, `cooldowns.${name}`)),
      ),
    ].filter((mention) => mention !== null),
  }
}
