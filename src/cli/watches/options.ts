/** The options of `reprise watch add`, and the request they make. */
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CreateWatch, Memory, NotifyFrom, Overlap } from '../../contract/watch.ts'
import { amount, duration, wholeNumber } from '../base/arguments.ts'
import { usageError } from '../base/usage-error.ts'

export interface WatchOptions {
  every?: number
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
    .option('--every <duration>', 'how often, such as 30m', duration)
    .option('--cron <expression>', 'when, instead: minute hour day month weekday, or @daily and the like')
    .option('--time-zone <zone>', 'of --cron, such as Europe/Berlin (default: that of the daemon)')
    .option('--jitter <duration>', 'late by up to this much, by chance', duration)
    .option('--cwd <dir>', 'where the agent works (default: this directory)')
    .option('--agent <name>', 'which agent')
    .addOption(oneOf('--memory <kind>', 'a clean session each time, or the one of the time before', MEMORIES))
    .addOption(oneOf('--overlap <policy>', 'what to do when one is due while another is open', OVERLAPS))
    .option('--max-tier <n>', 'the highest tier it may reach', wholeNumber)
    .option('--dry-run', 'look, but change nothing; records what would have been done')
    .option('--environment <file>', 'a text about the place, for whoever starts fresh')
    .option('--max-duration <duration>', 'how long one cycle may take, with its follow-ups', duration)
    .option('--budget <usd>', 'what one cycle may cost, with all its tiers and follow-ups', amount)
    .option('--budget-per-day <usd>', 'what all cycles of a day may cost together', amount)
    .option('--hook-secret <secret>', 'with which others may send it events, and do nothing else', secret)
    .option('--events-per-hour <n>', 'how many cycles events may start in an hour', wholeNumber)
    .option('--dedupe <duration>', 'for how long the same event is taken for known', duration)
    .option('--renew-after <duration>', 'of a persistent memory: begin anew after this time', duration)
    .option('--renew-after-cycles <n>', 'or after so many cycles', wholeNumber)
    .option('--notify <target>', 'tell this target of the configuration; may be repeated', collect)
    .option('--webhook <url>', 'tell this address, besides')
    .addOption(oneOf('--notify-from <level>', 'tell nothing below this, or only changes', NOTIFY_FROM))
    .option('--paused', 'do not begin yet')
}

export function toWatch(
  { name, prompt }: { name: string; prompt: string },
  options: WatchOptions,
  { cwd, environment }: { cwd: string; environment: string | undefined },
): CreateWatch {
  if (options.every !== undefined && options.cron !== undefined) {
    throw usageError('expected --every or --cron, not both')
  }
  if (options.timeZone !== undefined && options.cron === undefined) {
    throw usageError('--time-zone has a meaning only together with --cron')
  }
  const request: { [K in keyof CreateWatch]: CreateWatch[K] | undefined } = {
    name,
    prompt,
    workDir: resolve(cwd, options.cwd ?? '.'),
    everyMs: options.every,
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
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as CreateWatch
}

const collect = (text: string, before: string[] = []) => [...before, text]

function secret(text: string): string {
  if (!/^[\x21-\x7e]{16,255}$/.test(text))
    throw new InvalidArgumentError('Expected 16 to 255 visible ASCII characters.')
  return text
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/

/** Of a new one. */
export function newName(text: string): string {
  if (!NAME.test(text))
    throw new InvalidArgumentError('Expected a name of small letters, digits and . _ -, up to 63.')
  return text
}

/** Catches a slip before the daemon is asked, or even started. */
export function watchArgument(text: string): string {
  if (!NAME.test(text) && !/^wch_\w+$/.test(text))
    throw new InvalidArgumentError("Expected a watch's name, or its id like wch_01J….")
  return text
}
