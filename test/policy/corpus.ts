/** The corpus: what must be refused and what must be allowed, and the machine it is asked on. */
import { readFileSync } from 'node:fs'
import { checkCommand } from '../../src/core/policy/check.ts'
import type { Surroundings } from '../../src/core/policy/command.ts'
import {
  ALWAYS_PROTECTED,
  DEFAULT_NEVER,
  DEFAULT_PROTECTED_PATHS,
  DEFAULT_TIERS,
} from '../../src/core/policy/defaults.ts'
import { compilePolicy, type Policy } from '../../src/core/policy/policy.ts'

export interface Case {
  tier: string
  command: string
  trick: string
}

/** `TIER | COMMAND # trick`; \n in a command is a line break, unless it is in quotes of printf. */
export function readCorpus(name: 'forbidden' | 'innocent'): Case[] {
  const text = readFileSync(new URL(`./corpus/${name}.txt`, import.meta.url), 'utf8')
  return text.split('\n').flatMap((line) => {
    if (line === '' || line.startsWith('#')) return []
    const [, tier, command, trick] = /^([-1-9]) \| (.*) # ([^#]*)$/.exec(line) ?? []
    if (!tier || command === undefined || !trick) throw new Error(`not a line of the corpus: ${line}`)
    return [{ tier, command: command.replaceAll('\\n', '\n'), trick }]
  })
}

/** /work/link leads to /volumes, link2 in the work directory to /volumes/x; in `kept` there is an ie.yaml. */
export const surroundings: Surroundings = {
  cwd: '/work/project',
  home: '/home/dev',
  realpath: (path) =>
    path
      .replace(/^\/work\/link(?=\/|$)/, '/volumes')
      .replace(/^\/work\/project\/link2\/\.\.(?=\/|$)/, '/volumes')
      .replace(/^\/work\/project\/link2(?=\/|$)/, '/volumes/x'),
  exists: (path) => /^\/work\/project\/kept(\/\.|\/\.git|\/ie\.yaml)?$/.test(path),
}

const policies = new Map<string, Policy>()

export function defaultPolicy(tier: string): Policy {
  const known = policies.get(tier)
  if (known) return known
  const rules = DEFAULT_TIERS[tier]
  const policy = compilePolicy(
    { never: DEFAULT_NEVER, protectedPaths: DEFAULT_PROTECTED_PATHS, alwaysProtected: ALWAYS_PROTECTED },
    rules && { name: rules.name, tools: rules.tools, ...rules.commands },
    surroundings.home,
  )
  policies.set(tier, policy)
  return policy
}

export function ask(command: string, tier = '-', where: Partial<Surroundings> = {}) {
  return checkCommand(command, defaultPolicy(tier), { ...surroundings, ...where })
}
