/** The rules of one tier, compiled once, to be asked often. */
import { type CooldownSettings, type Cooldowns, compileCooldowns } from './cooldown.ts'
import { type CommandPattern, checkedPattern } from './pattern.ts'

/** What may be run at a tier. With `allow`, only that and what merely looks. */
export interface TierCommands {
  name: string
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
}

export interface CallRules {
  /** Forbidden at every tier. */
  never: readonly string[]
  /** null: only what no tier may do is refused. */
  tier: TierCommands | null
  cooldowns: Readonly<Record<string, CooldownSettings>>
  /** Refuse everything that does not merely look. */
  dryRun: boolean
}

export interface ForbiddingPattern {
  pattern: CommandPattern
  rule: 'never' | 'deny'
}

export interface CompiledRules {
  tier: string | undefined
  forbidding: ReadonlyMap<string, readonly ForbiddingPattern[]>
  allowing: ReadonlyMap<string, readonly CommandPattern[]>
  /** Whether only what is allowed may run, so that what cannot be understood may not. */
  restricts: boolean
  cooldowns: Cooldowns
  dryRun: boolean
}

/** Expects patterns that were checked when the configuration was loaded; throws for others. */
export function compileRules({ never, tier, cooldowns, dryRun }: CallRules): CompiledRules {
  const forbidding: ForbiddingPattern[] = [
    ...never.map((source) => ({ pattern: checkedPattern(source), rule: 'never' as const })),
    ...(tier?.deny ?? []).map((source) => ({ pattern: checkedPattern(source), rule: 'deny' as const })),
  ]
  return {
    tier: tier?.name,
    forbidding: Map.groupBy(forbidding, ({ pattern }) => pattern.program),
    allowing: Map.groupBy((tier?.allow ?? []).map(checkedPattern), ({ program }) => program),
    restricts: tier?.allow !== undefined,
    cooldowns: compileCooldowns(cooldowns),
    dryRun,
  }
}
