/** The settings of a watch as they are typed, and the request that they make. An empty field means the default. */
import { parseDurationMs } from '../../src/contract/quantity.ts'
import type {
  Memory,
  NotifyFrom,
  Overlap,
  UpdateWatch,
  Watch,
  WatchDefinition,
} from '../../src/contract/watch.ts'
import { typedNumber } from '../format/typed.ts'

export interface Draft {
  name: string
  prompt: string
  workDir: string
  fires: 'every' | 'cron' | ''
  every: string
  everyWhileNotHealthy: string
  cron: string
  timeZone: string
  jitter: string
  agent: string
  memory: Memory
  overlap: Overlap
  maxTier: '1' | '2' | '3' | ''
  dryRun: boolean
  environment: string
  maxBudgetUsd: string
  maxBudgetUsdPerDay: string
  maxDuration: string
  hookSecret: string
  eventsPerHour: string
  dedupe: string
  renewAfter: string
  renewAfterCycles: string
  /** Names of targets, with commas between them. */
  notify: string
  webhook: string
  notifyFrom: NotifyFrom | ''
}

const textOf = (value: string | number | undefined) => (value === undefined ? '' : String(value))

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** As durations are written in the configuration. */
export function durationText(ms: number | undefined): string {
  if (ms === undefined) return ''
  const [unit, size] = UNITS.find(([, each]) => ms >= each && ms % each === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}

export function draftOf(watch: Watch | null, recentDir: string): Draft {
  return {
    name: watch?.name ?? '',
    prompt: watch?.prompt ?? '',
    workDir: watch?.workDir ?? recentDir,
    fires: watch === null || watch.everyMs !== undefined ? 'every' : watch.cron !== undefined ? 'cron' : '',
    every: watch === null ? '30m' : durationText(watch.everyMs),
    everyWhileNotHealthy: durationText(watch?.everyWhileNotHealthyMs),
    cron: textOf(watch?.cron),
    timeZone: textOf(watch?.timeZone),
    jitter: durationText(watch?.jitterMs),
    agent: textOf(watch?.agent),
    memory: watch?.memory ?? 'fresh',
    overlap: watch?.overlap ?? 'skip',
    maxTier: textOf(watch?.maxTier) as Draft['maxTier'],
    dryRun: watch?.dryRun ?? false,
    environment: textOf(watch?.environment),
    maxBudgetUsd: textOf(watch?.maxBudgetUsd),
    maxBudgetUsdPerDay: textOf(watch?.maxBudgetUsdPerDay),
    maxDuration: durationText(watch?.maxDurationMs),
    hookSecret: '',
    eventsPerHour: textOf(watch?.eventsPerHour),
    dedupe: durationText(watch?.dedupeMs),
    renewAfter: durationText(watch?.renewAfterMs),
    renewAfterCycles: textOf(watch?.renewAfterCycles),
    notify: (watch?.notify ?? []).join(', '),
    webhook: textOf(watch?.webhook),
    notifyFrom: watch?.notifyFrom ?? '',
  }
}

/** What the draft says; undefined: the default. Throws if something is not a number or a duration. */
function definitionOf(draft: Draft): WatchDefinition {
  const isPersistent = draft.memory === 'persistent'
  const notify = draft.notify
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return {
    prompt: draft.prompt,
    workDir: draft.workDir.trim(),
    everyMs: draft.fires === 'every' ? duration('Every', draft.every) : undefined,
    everyWhileNotHealthyMs:
      draft.fires === '' ? undefined : duration('Every, while not healthy', draft.everyWhileNotHealthy),
    cron: draft.fires === 'cron' ? draft.cron.trim() : undefined,
    timeZone: draft.fires === 'cron' ? text(draft.timeZone) : undefined,
    jitterMs: duration('Jitter', draft.jitter),
    agent: text(draft.agent),
    memory: draft.memory,
    overlap: draft.overlap,
    maxTier: typedNumber('Highest tier', draft.maxTier),
    dryRun: draft.dryRun || undefined,
    environment: text(draft.environment),
    maxBudgetUsd: typedNumber('Budget of a cycle', draft.maxBudgetUsd),
    maxBudgetUsdPerDay: typedNumber('Budget of a day', draft.maxBudgetUsdPerDay),
    maxDurationMs: duration('Longest duration', draft.maxDuration),
    hookSecret: text(draft.hookSecret),
    eventsPerHour: typedNumber('Cycles by events per hour', draft.eventsPerHour),
    dedupeMs: duration('Same event within', draft.dedupe),
    renewAfterMs: isPersistent ? duration('New session after', draft.renewAfter) : undefined,
    renewAfterCycles: isPersistent
      ? typedNumber('New session after cycles', draft.renewAfterCycles)
      : undefined,
    notify: notify.length > 0 ? notify : undefined,
    webhook: text(draft.webhook),
    notifyFrom: draft.notifyFrom || undefined,
  }
}

const text = (typed: string) => (typed.trim() === '' ? undefined : typed.trim())

function duration(name: string, typed: string): number | undefined {
  if (typed.trim() === '') return undefined
  const ms = parseDurationMs(typed)
  if (ms === undefined) throw new Error(`${name}: expected a duration such as 90s, 30m or 2h, got ${typed}`)
  return ms
}

/** A new watch: what is not said is left out. */
export const creationOf = (draft: Draft): WatchDefinition =>
  Object.fromEntries(
    Object.entries(definitionOf(draft)).filter(([, value]) => value !== undefined),
  ) as WatchDefinition

/** An existing one: only what differs; null removes a setting. The secret is never shown, so it stays if none is typed. */
export function changeOf(draft: Draft, watch: Watch): UpdateWatch {
  const [before, after] = [definitionOf(draftOf(watch, '')), definitionOf(draft)]
  const changed = (Object.keys(after) as (keyof WatchDefinition)[]).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  )
  return Object.fromEntries(changed.map((key) => [key, after[key] ?? null]))
}
