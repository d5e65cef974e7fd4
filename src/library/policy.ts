/** Evaluates the configured policy against the files of this machine. */
import { homedir } from 'node:os'
import { agentNames } from '../config/agent-names.ts'
import { tierEntries } from '../config/policy-schema.ts'
import type { Config } from '../config/schema.ts'
import { forAgent } from '../core/escalation/tier.ts'
import { type CooldownSettings, decideCooldown } from '../core/rules/cooldown.ts'
import { checkTool, type ToolDecision } from '../core/shell/check-tool.ts'
import { compileToolRules, type Enforcement, type ToolRules } from '../core/shell/tool-rules.ts'
import { gatherFacts } from '../engine/enforce/call-facts.ts'
import { realPath } from '../process/real-path.ts'
import { hiddenPathsOf, protectedPathsOf } from './own-paths.ts'

export interface PolicyQuestion {
  command: string
  cwd: string
  /** The home of Reprise. */
  home: string
  env: { HOME?: string | undefined }
  enforcement: Enforcement
}

const findTier = ({ tiers }: Config, number: number) => new Map(tierEntries(tiers)).get(String(number))

export type PolicyAnswer = Omit<ToolDecision, 'actions'> & { enforcement: Enforcement }

/** Without a tier, only the rules that apply to all tiers are there. */
function rulesOf(
  config: Config,
  tier: number | undefined,
  { home, enforcement }: PolicyQuestion,
  userHome: string,
): ToolRules {
  const chosen = tier === undefined ? undefined : findTier(config, tier)
  // The default agent, as for a run that names no agent.
  const [agent] = agentNames(config)
  const rules = chosen && {
    name: `${tier} (${chosen.name ?? 'unnamed'})`,
    tools: (agent && forAgent(chosen.tools, agent)) ?? [],
    deniedTools: agent && forAgent(chosen.deniedTools, agent),
    allow: chosen.commands?.allow,
    deny: chosen.commands?.deny,
  }
  const always = {
    cooldowns: cooldownsOf(config),
    alwaysProtected: protectedPathsOf([home, realPath(home)]),
  }
  return compileToolRules({ ...config.policy, ...always }, rules, {
    home: userHome,
    enforcement,
    brokered: config.broker.programs,
  })
}

/** The defaults are only for the type checker: a loaded configuration is complete. */
export function cooldownsOf({ cooldowns }: Config): Record<string, CooldownSettings> {
  return Object.fromEntries(
    Object.entries(cooldowns).map(([name, { match = [], limit = 0, per = 0 }]) => [
      name,
      { match, limit, per },
    ]),
  )
}

/** The decision for a run at the tier, assuming that no cooldown has been used yet. */
export function askPolicy(config: Config, tier: number | undefined, question: PolicyQuestion): PolicyAnswer {
  const { command, cwd, env, home, enforcement } = question
  const userHome = env.HOME || homedir()
  const rules = rulesOf(config, tier, question, userHome)
  const { protectedPaths, calls } = rules
  const hiddenPaths = hiddenPathsOf(realPath(home))
  const facts = gatherFacts({ home: userHome, workDir: cwd, hiddenPaths, protectedPaths })
  const call = { tool: 'Bash', input: { command }, cwd, described: { kind: 'shell', command } } as const
  const { actions, ...decision } = checkTool(call, rules, facts, { dryRun: config.dryRun })
  if (decision.decision === 'deny') return { ...decision, enforcement }
  const counted = decideCooldown(actions, [], calls.cooldowns.limits, new Date(0))
  if (counted.kind === 'allow') return { ...decision, enforcement }
  const { reason, rule } = counted
  return { ...decision, decision: 'deny', reason, rule: `cooldowns.${rule}`, enforcement }
}
