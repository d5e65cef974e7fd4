/**
 * Every setting: its form, its default, what it is for. Nothing is required, so that each source can be checked
 * alone, before they are laid over each other.
 *
 * In the parsed `Config` all durations are milliseconds and all sizes are bytes.
 */
import { z } from 'zod'
import { ADAPTERS } from '../contract/agent.ts'
import { CHANGE_POLICIES } from '../contract/job.ts'
import { PERMISSION_MODES } from '../contract/run.ts'
import { DEFAULT_COOLDOWNS, DEFAULT_TIERS } from '../core/policy/defaults.ts'
import { notify } from './notify-schema.ts'
import { cooldowns, policy, tiers } from './policy-schema.ts'
import { redact } from './redact-schema.ts'
import { duration, setting, size, text, wholeNumber } from './setting.ts'
import { followUps, watches } from './watch-schema.ts'

const server = z.strictObject({
  host: text('Address the daemon listens on.').prefault('127.0.0.1'),
  port: wholeNumber('Port the daemon listens on; 0 takes any free one.', { min: 0, max: 65_535 }).prefault(
    7717,
  ),
})

const store = z.strictObject({
  url: setting(
    z.string().regex(/^(sqlite|file|postgres|postgresql):./),
    'an address that starts with sqlite:, file: or postgres:',
    'Database. Without it: SQLite in the home.',
  ).optional(),
})

const resume = z.strictObject({
  contextThreshold: setting(
    z.number().gt(0).max(1),
    'a number above 0 and up to 1',
    'A session whose context is filled beyond this fraction is not resumed.',
  ).prefault(0.8),
  maxAge: duration('A session older than this is not resumed.', { max: '3650d' }).prefault('7d'),
  maxResumes: wholeNumber('How often one job is continued.', { min: 0, max: 1000 }).prefault(5),
})

const session = z.strictObject({
  idleTimeout: duration('Unused for so long, a session is paused, then expires.', { max: '3650d' }).prefault(
    '30m',
  ),
})

const run = z.strictObject({
  maxDuration: duration('A run that takes longer is stopped.').prefault('30m'),
  idleTimeout: duration(
    'A run without output for so long is stopped; if the model has not answered its request, as an outage.',
  ).prefault('10m'),
  hangAfterResult: duration('How long an agent may stay after it gave its result.', { min: '0ms' }).prefault(
    '10s',
  ),
  termAfter: duration('From asking an agent to stop, to SIGTERM.', { min: '0ms' }).prefault('5s'),
  killAfter: duration('From SIGTERM to SIGKILL.', { min: '0ms' }).prefault('5s'),
  maxOutput: size('A run that writes more is stopped.').prefault('1GiB'),
  maxLine: size('A longer line of output is replaced by a gap record.').prefault('8MiB'),
  keepOutput: duration('How long the raw output of an ended attempt is kept; its events stay.', {
    min: '0ms',
    max: '3650d',
  }).prefault('7d'),
  permissions: setting(
    z.enum(PERMISSION_MODES),
    `one of ${PERMISSION_MODES.join(', ')}`,
    'Who decides when an agent wants to use a tool.',
  ).prefault('edits'),
  questionTimeout: duration('How long a run waits for an answer of yours.').prefault('24h'),
  concurrency: wholeNumber('How many runs go on at the same time.', { min: 1, max: 1000 }).prefault(4),
})

const jobs = z.strictObject({
  perWorkDir: wholeNumber('How many jobs work in one directory at the same time.', {
    min: 1,
    max: 1000,
  }).prefault(1),
  backoff: duration('The first pause after an outage, or a limit that names no time; it grows to 15m.', {
    min: '100ms',
    max: '30m',
  }).prefault('30s'),
  holdLimit: duration(
    'An agent that would wait longer for a limited or absent model is ended; its run waits.',
    {
      min: '0ms',
      max: '1d',
    },
  ).prefault('30s'),
  checkpoints: setting(
    z.boolean(),
    'true or false',
    'Keep checkpoints of the work tree of every job in a git repository.',
  ).prefault(false),
  checkpointEvery: duration('How often, while an agent works.', { min: '1s', max: '1d' }).prefault('5m'),
  onChange: setting(
    z.enum(CHANGE_POLICIES),
    `one of ${CHANGE_POLICIES.join(', ')}`,
    'What to do if the work tree is not as the agent left it.',
  ).prefault('continue'),
  keepCheckpoints: duration('How long the checkpoints of an ended job are kept.', {
    min: '0ms',
    max: '3650d',
  }).prefault('30d'),
  keepTranscripts: duration('How long the archived transcripts of an ended job are kept.', {
    min: '0ms',
    max: '3650d',
  }).prefault('90d'),
})

const outage = z.strictObject({
  limit: duration(
    'How long a run waits for a model that is away, or limited without a time at which that ends. After that it is left to you.',
    { min: '1s', max: '3650d' },
  ).prefault('24h'),
})

const escalation = z.strictObject({
  approvalTimeout: duration('How long a tier waits for approval; after that it is not started.', {
    max: '24d',
  }).prefault('1h'),
  budgetUsd: setting(
    z.number().gt(0).max(1_000_000),
    'a number above 0',
    'What all tiers of one chain may cost together, if the request does not say.',
  ).optional(),
})

const agent = z.strictObject({
  command: text('Executable: a path, or a name to look up on PATH.').optional(),
  args: setting(
    z.array(setting(z.string(), 'a text', 'One argument.')),
    'a list of texts',
    'Arguments added to those of Reprise.',
  ).optional(),
  adapter: setting(
    z.enum(ADAPTERS),
    `one of ${ADAPTERS.join(', ')}`,
    'Which agent it behaves like; by default the one of the same name.',
  ).optional(),
  model: text('Model to use when the request names none.').optional(),
  concurrency: wholeNumber('How many runs of this agent go on at the same time.', {
    min: 1,
    max: 1000,
  }).optional(),
  env: setting(
    z.record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/),
      setting(
        z.union([z.string(), z.number(), z.boolean()]).transform(String),
        'a text',
        'Value of the variable.',
      ),
    ),
    'names of variables (letters, digits, _) with their values',
    'Variables to add to the environment of the agent.',
  ).optional(),
})

/** As they would be written in a file. */
export function defaultTiers() {
  return Object.fromEntries(
    Object.entries(DEFAULT_TIERS).map(([number, { name, model, tools, commands }]) => [
      number,
      {
        name,
        model: { claude: model },
        tools: { claude: [...tools] },
        commands: {
          ...(commands.allow && { allow: [...commands.allow] }),
          ...(commands.deny && { deny: [...commands.deny] }),
        },
      },
    ]),
  )
}

/** As they would be written in a file. */
export function defaultCooldowns() {
  return Object.fromEntries(
    Object.entries(DEFAULT_COOLDOWNS).map(([name, { match, limit, per }]) => [
      name,
      { match: [...match], limit, per },
    ]),
  )
}

export const configSchema = z.strictObject({
  server: server.prefault({}),
  store: store.prefault({}),
  resume: resume.prefault({}),
  session: session.prefault({}),
  run: run.prefault({}),
  jobs: jobs.prefault({}),
  outage: outage.prefault({}),
  dryRun: setting(
    z.boolean(),
    'true or false',
    'Agents may look, but whatever would change something is refused and recorded.',
  ).prefault(false),
  maxTier: wholeNumber('The highest tier an escalation may reach.', { min: 1, max: 9 }).prefault(3),
  tiers: tiers.prefault(defaultTiers()),
  policy: policy.prefault({}),
  cooldowns: cooldowns.prefault(defaultCooldowns()),
  escalation: escalation.prefault({}),
  redact: redact.prefault({}),
  agents: setting(
    z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/), agent),
    'names of agents (small letters, digits, . _ -) with their settings',
    'Agents by name. Several names may share an adapter.',
  ).prefault({}),
  notify: notify.prefault({}),
  watches: watches.prefault({}),
  followUps: followUps.prefault({}),
})

export type Config = z.output<typeof configSchema>

/** For editors: the form of config.yaml and reprise.yaml. */
export function configJsonSchema(): Record<string, unknown> {
  return { title: 'Reprise configuration', ...z.toJSONSchema(configSchema, { io: 'input' }) }
}
