/**
 * The schema of the configuration: type, default and description of every setting. No setting is required, so that each
 * source can be checked alone before they are merged.
 *
 * In the parsed `Config` all durations are milliseconds and all sizes are bytes.
 */
import { z } from 'zod'
import { ADAPTERS } from '../contract/agent.ts'
import { CHANGE_POLICIES } from '../contract/checkpoint.ts'
import { PERMISSION_MODES } from '../contract/create-run.ts'
import { DEFAULT_COOLDOWNS, DEFAULT_TIERS } from '../core/rules/defaults.ts'
import { keep } from './keep-schema.ts'
import { notify, webhooks } from './notify-schema.ts'
import { broker, cooldowns, policy, tiers } from './policy-schema.ts'
import { redact } from './redact-schema.ts'
import { duration, setting, size, text, wholeNumber } from './setting.ts'
import { followUps, watches } from './watch-schema.ts'

const server = z.strictObject({
  host: text('Address the daemon listens on.').prefault('127.0.0.1'),
  port: wholeNumber('Port the daemon listens on; 0 chooses a free one.', { min: 0, max: 65_535 }).prefault(
    7717,
  ),
  publicUrl: setting(
    z.url({ protocol: /^https?$/ }).refine((address) => new URL(address).pathname === '/'),
    'an address such as https://reprise.example.org, without a path',
    'Address by which browsers reach the daemon through a proxy. Links for other devices use it.',
  ).optional(),
  trustedProxies: setting(
    z.array(z.union([z.ipv4(), z.ipv6()])),
    'a list of IP addresses',
    'Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed, such as 127.0.0.1.',
  ).prefault([]),
})

const store = z.strictObject({
  url: setting(
    z.string().regex(/^(sqlite|file|postgres|postgresql):./),
    'an address that starts with sqlite:, file: or postgres:',
    'Database address. Without it, SQLite in the home is used.',
  ).optional(),
})

const resume = z.strictObject({
  contextThreshold: setting(
    z.number().gt(0).max(1),
    'a number above 0 and up to 1',
    'A session whose context is filled beyond this fraction is not resumed.',
  ).prefault(0.8),
  maxAge: duration('A session older than this is not resumed.', { max: '3650d' }).prefault('7d'),
  maxResumes: wholeNumber('How often a job is resumed after interruptions.', { min: 0, max: 1000 }).prefault(
    5,
  ),
})

const session = z.strictObject({
  pauseAfter: duration('Time without use after which a session counts as paused.', {
    max: '3650d',
  }).prefault('5m'),
  idleTimeout: duration(
    'Time without use after which a paused session counts as expired and is archived. It can still be resumed within resume.maxAge.',
    { max: '3650d' },
  ).prefault('30m'),
})

const run = z.strictObject({
  maxDuration: duration('Maximum duration of an attempt; then it is stopped.').prefault('30m'),
  idleTimeout: duration(
    'Time without output after which a run is stopped. If a request to the model is open, it counts as an outage.',
  ).prefault('10m'),
  hangAfterResult: duration('How long an agent may keep running after its result.', { min: '0ms' }).prefault(
    '10s',
  ),
  termAfter: duration('Time from the request to stop to SIGTERM.', { min: '0ms' }).prefault('5s'),
  killAfter: duration('Time from SIGTERM to SIGKILL.', { min: '0ms' }).prefault('5s'),
  maxOutput: size('Maximum output of a run; then it is stopped.').prefault('1GiB'),
  maxLine: size('Maximum length of an output line; a longer one is replaced by a gap record.').prefault(
    '8MiB',
  ),
  permissions: setting(
    z.enum(PERMISSION_MODES),
    `one of ${PERMISSION_MODES.join(', ')}`,
    'Which tool calls need permission: ask-all (every call), ask (where the agent asks), edits (like ask, but file edits in the work directory are allowed), allow (none).',
  ).prefault('edits'),
  sandbox: setting(
    z.enum(['off', 'on']),
    'off or on',
    'Whether jobs, chats and other runs without a tier run in a sandbox: only the work directory can be written, and credentials are hidden.',
  ).prefault('off'),
  sandboxKind: setting(
    z.enum(['auto', 'bubblewrap', 'unshare']),
    'auto, bubblewrap or unshare',
    'Which sandbox is used. auto: the first that works; as root unshare is tried first, otherwise bubblewrap.',
  ).prefault('auto'),
  questionTimeout: duration('How long a run waits for an answer from a person.').prefault('24h'),
  concurrency: wholeNumber('Maximum number of concurrent runs.', { min: 1, max: 1000 }).prefault(4),
})

const disk = z.strictObject({
  minFree: size(
    'New attempts wait while the disk of the home or of the work directory has less free space than this, or than a tenth of its size. When almost nothing is left, running ones are stopped and wait, too. 0B: never.',
    { min: '0B' },
  ).prefault('200MiB'),
})

const jobs = z.strictObject({
  perWorkDir: wholeNumber('Maximum number of concurrent jobs in one directory.', {
    min: 1,
    max: 1000,
  }).prefault(1),
  backoff: duration('First wait after an outage, or after a limit without a reset time; it grows to 15m.', {
    min: '100ms',
    max: '30m',
  }).prefault('30s'),
  holdLimit: duration(
    'An agent that would have to wait longer than this for the model is ended, and its run waits instead.',
    {
      min: '0ms',
      max: '1d',
    },
  ).prefault('30s'),
  checkpoints: setting(
    z.boolean(),
    'true or false',
    'Whether jobs in a git repository save checkpoints of the work tree.',
  ).prefault(false),
  checkpointEvery: duration('How often a checkpoint is saved while the agent works.', {
    min: '1s',
    max: '1d',
  }).prefault('5m'),
  onChange: setting(
    z.enum(CHANGE_POLICIES),
    `one of ${CHANGE_POLICIES.join(', ')}`,
    'What to do if others changed the work tree before a resume: tell the agent (continue), restore it (restore) or pause the job (stop).',
  ).prefault('continue'),
})

const conversations = z.strictObject({
  keepWarm: duration(
    'How long the process of an agent waits for the next turn of its conversation, which then starts at once. 0s: it ends with its turn.',
    { min: '0ms', max: '1d' },
  ).prefault('5m'),
  maxKept: wholeNumber('Maximum number of processes that wait for a turn.', { min: 0, max: 1000 }).prefault(
    4,
  ),
  maxKeptMemory: size('Maximum memory of all processes that wait for a turn.').prefault('1GiB'),
})

const outage = z.strictObject({
  limit: duration(
    'How long a run waits for a model that is unreachable, or limited without a reset time. Then it is paused until a person continues it.',
    { min: '1s', max: '3650d' },
  ).prefault('24h'),
})

const escalation = z.strictObject({
  approvalTimeout: duration('How long a tier waits for approval. Then it is not started.', {
    max: '24d',
  }).prefault('1h'),
  budgetUsd: setting(
    z.number().gt(0).max(1_000_000),
    'a number above 0',
    'Maximum cost of all tiers of a chain, in US dollars, if the request sets none.',
  ).optional(),
})

const agent = z.strictObject({
  command: text('Executable: a path, or a name that is looked up on PATH.').optional(),
  args: setting(
    z.array(setting(z.string(), 'a text', 'One argument.')),
    'a list of texts',
    'Arguments that are added to those of Reprise.',
  ).optional(),
  adapter: setting(
    z.enum(ADAPTERS),
    `one of ${ADAPTERS.join(', ')}`,
    'Adapter to use; by default the one with the name of the agent.',
  ).optional(),
  model: text('Model to use if the request names none.').optional(),
  concurrency: wholeNumber('Maximum number of concurrent runs of this agent.', {
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
    'names of variables (letters, digits, _) with values',
    'Variables that are added to the environment of the agent.',
  ).optional(),
})

/** The defaults in the form in which a file would set them. */
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

/** The defaults in the form in which a file would set them. */
export function defaultCooldowns() {
  return Object.fromEntries(
    Object.entries(DEFAULT_COOLDOWNS).map(([name, { match, limit, per }]) => [
      name,
      { match: [...match], limit, per: `${per}ms` },
    ]),
  )
}

export const configSchema = z.strictObject({
  server: server.prefault({}),
  store: store.prefault({}),
  resume: resume.prefault({}),
  session: session.prefault({}),
  run: run.prefault({}),
  conversations: conversations.prefault({}),
  jobs: jobs.prefault({}),
  outage: outage.prefault({}),
  disk: disk.prefault({}),
  keep: keep.prefault({}),
  dryRun: setting(
    z.boolean(),
    'true or false',
    'Whether everything that would change something is refused and recorded.',
  ).prefault(false),
  maxTier: wholeNumber('Highest tier that an escalation may reach.', { min: 1, max: 9 }).prefault(3),
  tiers: tiers.prefault(defaultTiers()),
  policy: policy.prefault({}),
  cooldowns: cooldowns.prefault(defaultCooldowns()),
  broker: broker.prefault({}),
  escalation: escalation.prefault({}),
  redact: redact.prefault({}),
  agents: setting(
    z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/), agent),
    'names of agents (lower-case letters, digits, . _ -) with settings',
    'Agents by name. Several names may share an adapter.',
  ).prefault({}),
  notify: notify.prefault({}),
  webhooks: webhooks.prefault({}),
  watches: watches.prefault({}),
  followUps: followUps.prefault({}),
})

export type Config = z.output<typeof configSchema>
/** The settings as they are written in a file. */
export type Settings = z.input<typeof configSchema>

/** The JSON Schema of config.yaml and reprise.yaml, for editors. */
export function configJsonSchema(): Record<string, unknown> {
  return { title: 'Reprise configuration', ...z.toJSONSchema(configSchema, { io: 'input' }) }
}
