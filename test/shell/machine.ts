/** The machine on which texts are checked: the agent works in /work/project, its home is /home/dev. */
import { readFileSync } from 'node:fs'
import type { CallFacts } from '../../src/core/rules/call.ts'
import {
  ALWAYS_PROTECTED,
  DEFAULT_HIDDEN_PATHS,
  DEFAULT_PROTECTED_PATHS,
} from '../../src/core/rules/default-paths.ts'
import {
  DEFAULT_BROKER_PROGRAMS,
  DEFAULT_COOLDOWNS,
  DEFAULT_NEVER,
  DEFAULT_TIERS,
} from '../../src/core/rules/defaults.ts'
import { checkText, type TextDecision } from '../../src/core/shell/check-text.ts'
import { isBelow } from '../../src/core/shell/paths.ts'
import { compileProtectedPaths, protectedBy } from '../../src/core/shell/protected-paths.ts'
import { compileToolRules, type Enforcement, type ToolRules } from '../../src/core/shell/tool-rules.ts'

export const HOME = '/home/dev'
export const CWD = '/work/project'

const HIDDEN = compileProtectedPaths({ protectedPaths: DEFAULT_HIDDEN_PATHS }, HOME)
const PATHS = { protectedPaths: DEFAULT_PROTECTED_PATHS, alwaysProtected: ALWAYS_PROTECTED }
const PROTECTED = compileProtectedPaths(PATHS, HOME)

/**
 * /work/link leads to /volumes, link2 in the work directory to /volumes/x; in `kept` there is an ie.yaml. The compose
 * file in /srv/media is one that the agent cannot write.
 */
export const facts: CallFacts = {
  home: HOME,
  agentCanWrite: (path) => isBelow(path, CWD) || isBelow(path, '/tmp'),
  isHidden: (path) => protectedBy({ path, deep: false }, HIDDEN, () => false) !== undefined,
  containsHidden: (path) => protectedBy({ path, deep: true }, HIDDEN, () => false) !== undefined,
  isProtected: (path) => protectedBy({ path, deep: true }, PROTECTED, () => false) !== undefined,
  realPath: (path) =>
    path
      .replace(/^\/work\/link(?=\/|$)/, '/volumes')
      .replace(/^\/work\/project\/link2\/\.\.(?=\/|$)/, '/volumes')
      .replace(/^\/work\/project\/link2(?=\/|$)/, '/volumes/x'),
  exists: (path) =>
    /^\/work\/project\/kept(\/\.|\/\.git|\/ie\.yaml)?$/.test(path) || path === '/srv/media/compose.yaml',
  readFile: (path) => (path === '/srv/media/compose.yaml' ? 'services: { web: { image: nginx } }' : null),
}

const policies = new Map<string, ToolRules>()

export function policyOf(tier: string, enforcement: Enforcement): ToolRules {
  const key = `${enforcement} ${tier}`
  const known = policies.get(key)
  if (known) return known
  const rules = DEFAULT_TIERS[tier]
  const policy = compileToolRules(
    { never: DEFAULT_NEVER, cooldowns: DEFAULT_COOLDOWNS, ...PATHS },
    rules && { name: `${tier} (${rules.name})`, tools: rules.tools, ...rules.commands },
    { home: HOME, enforcement, brokered: DEFAULT_BROKER_PROGRAMS },
  )
  policies.set(key, policy)
  return policy
}

/** Tier `-`: without a tier. */
export function ask(text: string, tier: string, enforcement: Enforcement): TextDecision {
  return checkText(text, CWD, policyOf(tier, enforcement), facts)
}

export interface Case {
  tier: string
  command: string
  trick: string
}

/** `TIER | COMMAND # trick`; \n in a command is a line break. */
export function readCorpus(name: 'forbidden' | 'innocent'): Case[] {
  const text = readFileSync(new URL(`./corpus/${name}.txt`, import.meta.url), 'utf8')
  return text.split('\n').flatMap((line) => {
    if (line === '' || line.startsWith('#')) return []
    const [, tier, command, trick] = /^([-1-9]) \| (.*) # ([^#]*)$/.exec(line) ?? []
    if (!tier || command === undefined || !trick) throw new Error(`not a line of the corpus: ${line}`)
    return [{ tier, command: command.replaceAll('\\n', '\n'), trick }]
  })
}
