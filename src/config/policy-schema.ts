/** Settings of escalation tiers, and of what they may run. */
import { z } from 'zod'
import { compileServicePattern } from '../core/rules/cooldown.ts'
import { DEFAULT_PROTECTED_PATHS } from '../core/rules/default-paths.ts'
import { DEFAULT_BROKER_PROGRAMS, DEFAULT_NEVER } from '../core/rules/defaults.ts'
import { compilePattern } from '../core/rules/pattern.ts'
import { unknownTool } from './known-tools.ts'
import { duration, setting, text, wholeNumber } from './setting.ts'

const understoodBy = (compile: (source: string) => { ok: true } | { ok: false; problem: string }) =>
  z.string().superRefine((source, context) => {
    const result = compile(source)
    if (result.ok) return
    const says = `the command pattern ${JSON.stringify(source)} is invalid: ${result.problem}`
    context.addIssue({ code: 'custom', message: says, params: { says } })
  })

const commandPattern = setting(
  understoodBy(compilePattern),
  'a command such as "docker restart *"',
  'Matches parsed commands word by word; * matches any further words.',
)

const tool = setting(
  z.string().superRefine((name, context) => {
    const says = unknownTool(name)
    if (says !== null) context.addIssue({ code: 'custom', message: says, params: { says } })
  }),
  'the name of a tool, such as Bash or Read',
  'A tool of the agent.',
)

/** One value for all agents, or a value by agent. */
function perAgent<S extends z.ZodType, E extends z.ZodType>(
  all: S,
  each: E,
  expected: string,
  description: string,
) {
  const byAgent = z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/), each)
  return setting(
    z.union([all, byAgent]),
    `${expected}, or a mapping from the names of agents to such values`,
    `${description} One value for all agents, or a mapping by the name of the agent or of its adapter.`,
  )
}

/** The tools of a named agent are checked later, when its adapter is known. */
const toolName = setting(z.string().min(1), 'the name of a tool', 'A tool of the agent.')
const tools = (description: string) =>
  perAgent(
    setting(z.array(tool), 'a list of tools', description),
    setting(z.array(toolName), 'a list of tools', description),
    'a list of tools',
    description,
  )

const patterns = (description: string) => setting(z.array(commandPattern), 'a list of commands', description)

const modelName = text('The name of a model.')
const tokens = setting(
  z.number().int().min(1000).max(100_000_000),
  'a number of tokens',
  'A number of tokens.',
)

const pathList = (description: string) =>
  setting(
    z.array(text('A path; relative ones start at the work directory, ~ is the home directory.')),
    'a list of paths',
    description,
  )

const tier = z.strictObject({
  name: text('Name of the tier.').optional(),
  model: perAgent(modelName, modelName, 'a text that is not empty', 'Model of this tier.').optional(),
  tools: tools('Tools that the agent may use at this tier.').optional(),
  deniedTools: tools(
    'Tools that the agent may not use at this tier, even if they are in its default list.',
  ).optional(),
  commands: z
    .strictObject({
      allow: patterns('Only these commands may run, besides read-only ones.').optional(),
      deny: patterns('These commands may not run.').optional(),
    })
    .optional(),
  approval: setting(
    z.boolean(),
    'true or false',
    'Whether a person must approve before this tier starts.',
  ).optional(),
  budgetUsd: setting(
    z.number().gt(0),
    'a number above 0',
    'Maximum cost of a run of this tier, in US dollars.',
  ).optional(),
  maxDuration: duration('Maximum duration of a run of this tier.', { min: '1s' }).optional(),
  contextWindow: perAgent(
    tokens,
    tokens,
    'a number of tokens',
    "Size of the model's context in tokens, if the agent does not report it.",
  ).optional(),
  files: z
    .strictObject({
      write: pathList(
        'Paths that the agent can write, besides its own session. Tier 1: none; others: the work directory.',
      ).optional(),
      hidden: pathList(
        'Paths that the agent cannot see, besides those that are hidden from every tier.',
      ).optional(),
    })
    .optional(),
  network: setting(
    z.enum(['open', 'none']),
    'open or none',
    'none: the agent reaches nothing but the address of its model.',
  ).optional(),
  promptFile: text('File with the prompt of this tier, relative to the settings file.').optional(),
})

const enforcement = setting(
  z.enum(['auto', 'kernel']),
  'auto or kernel',
  'auto: where the machine has no sandbox, the rules of tiers are advisory. kernel: a tier does not start without a sandbox.',
)

const numbered = tier.optional()

export const tiers = setting(
  z.strictObject({
    enforcement: enforcement.prefault('auto'),
    ...{ 1: numbered, 2: numbered, 3: numbered, 4: numbered, 5: numbered },
    ...{ 6: numbered, 7: numbered, 8: numbered, 9: numbered },
  }),
  'enforcement, and tier numbers from 1 to 9 with settings',
  'Escalation tiers by number. 1, 2 and 3 have defaults; each key overrides one.',
)

export type TierConfig = z.output<typeof tier>
export type TiersConfig = z.output<typeof tiers>

/** The tiers by number, lowest first. */
export const tierEntries = ({ enforcement: _, ...tiers }: TiersConfig): [string, TierConfig][] =>
  Object.entries(tiers).flatMap(([number, tier]) => (tier ? [[number, tier]] : []))

/** Programs that act on the world. Inside a sandbox they exist only as a request to the broker. */
export const broker = z.strictObject({
  programs: setting(
    z.array(
      setting(
        z.string().regex(/^\w[\w.+-]*$/),
        'the name of a program, such as docker',
        'The name of a program.',
      ),
    ),
    'a list of names of programs',
    'Programs that run outside the sandbox, after their arguments have been checked, with your credentials.',
  ).prefault([...DEFAULT_BROKER_PROGRAMS]),
})

const cooldown = z.strictObject({
  match: setting(
    z.array(
      setting(
        understoodBy(compileServicePattern),
        'a command such as "docker restart {service}"',
        'Matches like other command patterns; {service} is the word that names the service.',
      ),
    ),
    'a list of commands',
    'Commands that are counted.',
  ).optional(),
  limit: wholeNumber('How often it may be done to one service; 0 means never.', {
    min: 0,
    max: 1000,
  }).optional(),
  per: duration('Period in which the limit applies.', { min: '1s', max: '365d' }).optional(),
})

export const cooldowns = setting(
  z.record(z.string().regex(/^[a-z][a-z0-9-]*$/), cooldown),
  'names (lower-case letters, digits, -) with match, limit and per',
  'Limits for how often an action may be done to a service. restart and redeploy have defaults; each key overrides one.',
)

export const policy = z.strictObject({
  never: patterns('Commands that no tier may run.').prefault([...DEFAULT_NEVER]),
  protectedPaths: setting(
    z.array(text('A path; * matches one name, ** anything below.')),
    'a list of paths',
    'Paths that no tier may change. A path without a leading slash is protected in every directory.',
  ).prefault([...DEFAULT_PROTECTED_PATHS]),
})
