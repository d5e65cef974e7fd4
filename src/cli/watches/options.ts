/** The options of `reprise watch add` and `watch edit`, and the API requests for them. */
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CreateWatch, Memory, NotifyFrom, Overlap, UpdateWatch } from '../../contract/watch.ts'
import { amount, between, duration, durationBetween, tierNumber } from '../base/arguments.ts'
import { idArgument } from '../base/id-argument.ts'
import { usageError } from '../base/usage-error.ts'

export interface WatchOptions {
  every?: number
  everyWhileNotHealthy?: number
  cron?: string
  timeZone?: string
  jitter?: number
  cwd?: string
  agent?: string
  memory?: Memory
  overlap?: Overlap
  maxTier?: number
  dryRun?: boolean
  environment?: string
  maxDuration?: number
  budget?: number
  budgetPerDay?: number
  hookSecret?: string
  eventsPerHour?: number
  dedupe?: number
  renewAfter?: number
  renewAfterCycles?: number
  notify?: string[]
  webhook?: string
  notifyFrom?: NotifyFrom
  paused?: boolean
}

const MEMORIES: readonly Memory[] = ['fresh', 'persistent']
const OVERLAPS: readonly Overlap[] = ['skip', 'queue']
const NOTIFY_FROM: readonly NotifyFrom[] = ['all', 'problem', 'attention', 'change']

export function addWatchOptions(command: Command): Command {
  const oneOf = (flags: string, description: string, choices: readonly string[]) =>
    new Option(flags, description).choices(choices)
  return command
    .option('--every <duration>', 'interval, such as 30m (10s to 366d)', durationBetween('10s', '366d'))
    .option(
      '--every-while-not-healthy <duration>',
      'shorter interval while the last cycle was not healthy, such as 5m',
      durationBetween('10s', '366d'),
    )
    .option(
      '--cron <expression>',
      'schedule instead of --every: minute hour day month weekday, or @daily and similar',
    )
    .option('--time-zone <zone>', 'time zone of --cron, such as Europe/Berlin (default: that of the daemon)')
    .option('--jitter <duration>', 'delay each cycle at random, by up to this much', duration)
    .option('--cwd <dir>', 'work directory of the agent (default of a new watch: the current one)')
    .option('--agent <name>', 'agent to use')
    .addOption(
      oneOf(
        '--memory <kind>',
        'start each cycle in a new session, or continue that of the previous cycle',
        MEMORIES,
      ),
    )
    .addOption(
      oneOf('--overlap <policy>', 'what to do when a cycle is due while another one is open', OVERLAPS),
    )
    .option('--max-tier <n>', 'highest tier that a cycle may reach', tierNumber)
    .option('--dry-run', 'change nothing; record what would have been done')
    .option('--environment <file>', 'file describing the environment, given to each new session')
    .option(
      '--max-duration <duration>',
      'maximum duration of a cycle with its follow-ups',
      durationBetween('1s', '24d'),
    )
    .option('--budget <usd>', 'maximum cost of a cycle with all its tiers and follow-ups', amount)
    .option('--budget-per-day <usd>', 'maximum cost of all cycles of a day', amount)
    .option(
      '--hook-secret <secret>',
      'secret with which others may send events to this watch, and nothing else',
      secret,
    )
    .option(
      '--events-per-hour <n>',
      'maximum number of cycles per hour that events may start',
      between(1, 3600),
    )
    .option('--dedupe <duration>', 'how long a repeated event is ignored', durationBetween('0s', '30d'))
    .option(
      '--renew-after <duration>',
      'with persistent memory: start a new session after this time',
      durationBetween('1m', '3650d'),
    )
    .option(
      '--renew-after-cycles <n>',
      'with persistent memory: start a new session after this many cycles',
      between(1, 100_000),
    )
    .option('--notify <target>', 'target in the configuration to notify; may be repeated', collect)
    .option('--webhook <url>', 'additional URL to notify')
    .addOption(oneOf('--notify-from <level>', 'lowest level to notify about, or only changes', NOTIFY_FROM))
    .option('--paused', 'start no cycles on schedule')
}

/** Where the command runs, and the text of the file that `--environment` names. */
interface Place {
  cwd: string
  environment: string | undefined
}

export function toWatch(
  { name, prompt }: { name: string; prompt: string },
  options: WatchOptions,
  place: Place,
): CreateWatch {
  if (options.timeZone !== undefined && options.cron === undefined) {
    throw usageError('--time-zone can only be used with --cron')
  }
  const workDir = resolve(place.cwd, options.cwd ?? '.')
  return { ...settingsIn(options, place), name, prompt, workDir }
}

/** Only what was given is changed. */
export function toChange(prompt: string | undefined, options: WatchOptions, place: Place): UpdateWatch {
  const change = {
    ...settingsIn(options, place),
    ...(prompt === undefined ? {} : { prompt }),
    ...(options.cwd === undefined ? {} : { workDir: resolve(place.cwd, options.cwd) }),
  }
  if (Object.keys(change).length === 0) {
    throw usageError('nothing to change', 'Give a new prompt, or options: reprise watch edit --help')
  }
  return change
}

type Settings = Omit<CreateWatch, 'name' | 'prompt' | 'workDir' | 'every'>

function settingsIn(options: WatchOptions, { environment }: Place): Settings {
  if (options.every !== undefined && options.cron !== undefined) {
    throw usageError('expected --every or --cron, not both')
  }
  const settings: { [K in keyof Settings]: Settings[K] | undefined } = {
    everyMs: options.every,
    everyWhileNotHealthyMs: options.everyWhileNotHealthy,
    cron: options.cron,
    timeZone: options.timeZone,
    jitterMs: options.jitter,
    agent: options.agent,
    memory: options.memory,
    overlap: options.overlap,
    maxTier: options.maxTier,
    dryRun: options.dryRun,
    environment,
    maxDurationMs: options.maxDuration,
    maxBudgetUsd: options.budget,
    maxBudgetUsdPerDay: options.budgetPerDay,
    hookSecret: options.hookSecret,
    eventsPerHour: options.eventsPerHour,
    dedupeMs: options.dedupe,
    renewAfterMs: options.renewAfter,
    renewAfterCycles: options.renewAfterCycles,
    notify: options.notify,
    webhook: options.webhook,
    notifyFrom: options.notifyFrom,
    paused: options.paused,
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Settings
}

const collect = (text: string, before: string[] = []) => [...before, text]

function secret(text: string): string {
  if (!/^[\x21-\x7e]{16,255}$/.test(text))
    throw new InvalidArgumentError('expected 16 to 255 visible ASCII characters')
  return text
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/

/** The name of a new watch. */
export function newName(text: string): string {
  if (!NAME.test(text))
    throw new InvalidArgumentError('expected up to 63 lower-case letters, digits and . _ -')
  return text
}

/** The name or the id of a watch. */
export const watchArgument = idArgument('wch', { passes: NAME, otherwise: ', or the name of a watch' })
