/** Tiers of escalation and what they may run. */
import { z } from 'zod'
import { compileServicePattern } from '../core/policy/cooldown.ts'
import { DEFAULT_NEVER, DEFAULT_PROTECTED_PATHS } from '../core/policy/defaults.ts'
import { compilePattern } from '../core/policy/pattern.ts'
import { unknownTool } from './known-tools.ts'
import { duration, setting, text, wholeNumber } from './setting.ts'

const understoodBy = (compile: (source: string) => { ok: true } | { ok: false; problem: string }) =>
  z.string().superRefine((source, context) => {
    const result = compile(source)
    if (result.ok) return
    const says = `the command pattern ${JSON.stringify(source)} cannot be understood: ${result.problem}`
    context.addIssue({ code: 'custom', message: says, params: { says } })
  })

const commandPattern = setting(
  understoodBy(compilePattern),
  'a command such as "docker restart *"',
  'Matches parsed commands word by word; * is any further words.',
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

/** Of an agent that is named, tools are checked when it is known what it behaves like. */
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

const tier = z.strictObject({
  name: text('What the tier is called.').optional(),
  model: perAgent(
    modelName,
    modelName,
    'a text that is not empty',
    'Model that works at this tier.',
  ).optional(),
  tools: tools('Tools the agent has at this tier.').optional(),
  deniedTools: tools(
    'Tools the agent does not have at this tier, also if they have been given to it by default.',
  ).optional(),
  commands: z
    .strictObject({
      allow: patterns('Only these may run, besides commands that merely look.').optional(),
      deny: patterns('These may not run.').optional(),
    })
    .optional(),
  approval: setting(z.boolean(), 'true or false', 'A person must agree before this tier starts.').optional(),
  budgetUsd: setting(z.number().gt(0), 'a number above 0', 'What a run of this tier may cost.').optional(),
  maxDuration: duration('A run of this tier that takes longer is stopped.', { min: '1s' }).optional(),
  contextWindow: perAgent(
    tokens,
    tokens,
    'a number of tokens',
    "The size of the model's context, where the agent does not report it.",
  ).optional(),
  promptFile: text('A file with the prompt of this tier; relative to the settings file.').optional(),
})

export const tiers = setting(
  z.record(z.string().regex(/^[1-9]$/), tier),
  'numbers of tiers from 1 to 9 with their settings',
  'Rungs of escalation. 1, 2 and 3 have defaults; each key overrides.',
)

const cooldown = z.strictObject({
  match: setting(
    z.array(
      setting(
        understoodBy(compileServicePattern),
        'a command such as "docker restart {service}"',
        'Matches as other commands do; {service} is the word that names the service.',
      ),
    ),
    'a list of commands',
    'What is counted.',
  ).optional(),
  limit: wholeNumber('How often it may be done to one service; 0 is never.', {
    min: 0,
    max: 1000,
  }).optional(),
  per: duration('In which time.', { min: '1s', max: '365d' }).optional(),
})

export const cooldowns = setting(
  z.record(z.string().regex(/^[a-z][a-z0-9-]*$/), cooldown),
  'names (small letters, digits, -) with match, limit and per',
  'How often something may be done to a service. restart and redeploy have defaults; each key overrides.',
)

export const policy = z.strictObject({
  never: patterns('No tier may run these.').prefault([...DEFAULT_NEVER]),
  protectedPaths: setting(
    z.array(text('A path; * stands for a name, ** for anything below.')),
    'a list of paths',
    'No tier may change these. A path without a leading slash is protected in every directory.',
  ).prefault([...DEFAULT_PROTECTED_PATHS]),
})
