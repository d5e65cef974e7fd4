/** A machine to ask the judge on: the agent works in /work/project, its home is /home/dev. */
import type { CallDecision, CallFacts } from '../../src/core/rules/call.ts'
import { DEFAULT_HIDDEN_PATHS } from '../../src/core/rules/default-paths.ts'
import { DEFAULT_COOLDOWNS, DEFAULT_NEVER, DEFAULT_TIERS } from '../../src/core/rules/defaults.ts'
import { judgeCall } from '../../src/core/rules/judge.ts'
import { type CompiledRules, compileRules } from '../../src/core/rules/rules.ts'

export const HOME = '/home/dev'
export const CWD = '/work/project'

const HIDDEN = DEFAULT_HIDDEN_PATHS.map((path) => path.replace(/^~/, HOME))
const isWithin = (path: string, dir: string) => path === dir || path.startsWith(dir === '/' ? '/' : `${dir}/`)

export interface World {
  /** Content by absolute path. */
  files?: Record<string, string>
  /** Where symbolic links lead, by absolute path. */
  links?: Record<string, string>
  remotes?: ReadonlyMap<string, string>
}

/** The agent can write the work directory and /tmp; /volumes is protected. */
export function factsOf({ files = {}, links = {}, remotes }: World = {}): CallFacts {
  const realPath = (path: string): string => {
    const link = Object.keys(links).find((from) => isWithin(path, from))
    return link === undefined
      ? path.replace(/^\/var\/run(?=\/|$)/, '/run')
      : realPath((links[link] ?? '') + path.slice(link.length))
  }
  return {
    home: HOME,
    agentCanWrite: (path) => isWithin(path, CWD) || isWithin(path, '/tmp'),
    isHidden: (path) => HIDDEN.some((dir) => isWithin(path, dir)),
    containsHidden: (path) => HIDDEN.some((dir) => dir !== path && isWithin(dir, path)),
    isProtected: (path) => isWithin(path, '/volumes') || isWithin('/volumes', path),
    realPath,
    exists: (path) =>
      path in files || Object.keys(files).some((file) => isWithin(file, path)) || path in links,
    readFile: (path) => files[realPath(path)] ?? null,
    innerLooks: (argv) => ['ls', 'cat', 'uptime'].includes(argv[0] ?? ''),
    ...(remotes && { remotes }),
  }
}

/** A default tier by its number, `-` for none, or one of its own. */
export type TestTier = string | { allow?: readonly string[]; deny?: readonly string[] }

export function rulesOf(tier: TestTier, { dryRun = false } = {}): CompiledRules {
  const found = typeof tier === 'string' ? DEFAULT_TIERS[tier] : { name: 'test', commands: tier }
  return compileRules({
    never: DEFAULT_NEVER,
    tier: found ? { name: found.name, ...found.commands } : null,
    cooldowns: DEFAULT_COOLDOWNS,
    dryRun,
  })
}

/** Words as a shell would split them; only quotes are understood. */
export function words(text: string): string[] {
  return [...text.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  )
}

export interface Asked extends World {
  cwd?: string
  dryRun?: boolean
}

export function ask(
  tier: TestTier,
  text: string,
  { cwd = CWD, dryRun = false, ...world }: Asked = {},
): CallDecision {
  const [program = '', ...args] = words(text)
  return judgeCall({ program, args, cwd }, rulesOf(tier, { dryRun }), factsOf(world))
}

/** `looks`, `allow`, or the rule that refused. */
export function verdict(tier: TestTier, text: string, asked: Asked = {}): string {
  const decision = ask(tier, text, asked)
  return decision.decision === 'deny' ? decision.rule : decision.looks ? 'looks' : 'allow'
}
