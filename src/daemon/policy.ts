/** Evaluates the configured policy against the files of this machine. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { agentNames } from '../config/agent-names.ts'
import { tierEntries } from '../config/policy-schema.ts'
import type { Config } from '../config/schema.ts'
import { forAgent } from '../core/escalation/tier.ts'
import { checkCommand, type PolicyDecision } from '../core/policy/check.ts'
import { type CooldownSettings, decideCooldown } from '../core/policy/cooldown.ts'
import { ALWAYS_PROTECTED } from '../core/policy/defaults.ts'
import { compilePolicy, type Policy } from '../core/policy/policy.ts'
import { checkTool } from '../core/policy/tools.ts'
import { realPath } from '../process/real-path.ts'

export interface PolicyQuestion {
  command: string
  cwd: string
  env: { HOME?: string | undefined }
}

export const findTier = ({ tiers }: Config, number: number) => new Map(tierEntries(tiers)).get(String(number))

/** Without a tier, the policy contains only the rules that apply to all tiers. */
export function policyOf(config: Config, tier: number | undefined, home: string): Policy {
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
  const always = { cooldowns: cooldownsOf(config), alwaysProtected: ALWAYS_PROTECTED }
  return compilePolicy({ ...config.policy, ...always }, rules, home)
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
export function askPolicy(
  config: Config,
  tier: number | undefined,
  { command, cwd, env }: PolicyQuestion,
): PolicyDecision {
  const home = env.HOME || homedir()
  const policy = policyOf(config, tier, home)
  const surroundings = { cwd: realPath(cwd), home, realpath: realPath, exists: existsSync }
  const { opaque } = checkCommand(command, policy, surroundings)
  const call = { tool: 'Bash', input: { command }, cwd }
  const { actions, ...decision } = checkTool(call, policy, surroundings, { dryRun: config.dryRun })
  if (decision.decision === 'deny') return { ...decision, opaque }
  const counted = decideCooldown(actions, [], policy.cooldowns.limits, new Date(0))
  return counted.kind === 'allow'
    ? { ...decision, opaque }
    : { ...decision, decision: 'deny', reason: counted.reason, rule: `cooldowns.${counted.rule}`, opaque }
}
