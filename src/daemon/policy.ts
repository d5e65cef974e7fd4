/** Asks the configured policy, with the files of this machine. */
import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../config/schema.ts'
import { checkCommand, type PolicyDecision } from '../core/policy/check.ts'
import { compilePolicy, type Policy } from '../core/policy/policy.ts'

export interface PolicyQuestion {
  command: string
  cwd: string
  env: { HOME?: string | undefined }
}

/** Without a tier: what no tier may do. */
export function policyOf(config: Config, tier: number | undefined, home: string): Policy {
  const chosen = tier === undefined ? undefined : config.tiers[String(tier)]
  const rules = chosen && {
    name: `${tier} (${chosen.name ?? 'unnamed'})`,
    tools: chosen.tools ?? [],
    allow: chosen.commands?.allow,
    deny: chosen.commands?.deny,
  }
  return compilePolicy(config.policy, rules, home)
}

export function askPolicy(
  config: Config,
  tier: number | undefined,
  { command, cwd, env }: PolicyQuestion,
): PolicyDecision {
  const home = env.HOME || homedir()
  return checkCommand(command, policyOf(config, tier, home), {
    cwd: resolveLinks(cwd),
    home,
    realpath: resolveLinks,
    exists: existsSync,
  })
}

/** As far as the path exists; the rest is kept. */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(resolveLinks(parent), basename(path))
  }
}
