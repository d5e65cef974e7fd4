/** Watches and their cycles for people. */
import type { Cycle, CycleDetail, Watch } from '../../contract/watch.ts'
import { followUpText } from '../follow-ups/text.ts'
import { chainLines } from '../run/chain-text.ts'
import {
  count,
  formatAge,
  formatCost,
  formatDistance,
  formatDuration,
  formatTokens,
} from '../terminal/amounts.ts'
import type { Table } from '../terminal/print-page.ts'
import { firstLine, type Style } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'

export function watchRows(watches: readonly Watch[], now: Date): Table {
  return {
    headings: ['NAME', 'STATE', 'SCHEDULE', 'NEXT', 'LAST', 'AGE', 'COST', 'PROMPT'],
    rows: watches.map(({ lastCycle, ...watch }) => [
      watch.name,
      stateOfWatch(watch),
      watch.schedule ?? 'when triggered',
      watch.nextAt && watch.state === 'active' ? formatDistance(watch.nextAt, now) : '–',
      lastCycle ? (lastCycle.status ?? resultOf(lastCycle)) : '–',
      lastCycle ? formatAge(lastCycle.startedAt ?? lastCycle.dueAt, now) : '–',
      lastCycle ? formatCost(lastCycle.costUsd, lastCycle.costEstimated) : '–',
      firstLine(watch.prompt, 200),
    ]),
  }
}

const stateOfWatch = ({ state, openCycleId }: Pick<Watch, 'state' | 'openCycleId'>) =>
  openCycleId ? `${state}, at work` : state

/** How it ended; of one that has not, how it stands. */
export function resultOf({ state, outcome }: Pick<Cycle, 'state' | 'outcome'>): string {
  return state === 'ended' ? (outcome ?? 'ended') : state
}

export function cycleRows(cycles: readonly Cycle[], now: Date): Table {
  return {
    headings: ['ID', 'OUTCOME', 'STATUS', 'TIER', 'TRIGGER', 'AGE', 'TOOK', 'COST', 'SUMMARY'],
    rows: cycles.map((cycle) => [
      cycle.id,
      resultOf(cycle),
      cycle.status ?? '–',
      cycle.tier === null ? '–' : String(cycle.tier),
      cycle.trigger,
      formatAge(cycle.startedAt ?? cycle.dueAt, now),
      formatDuration(tookOf(cycle, now)),
      formatCost(cycle.costUsd, cycle.costEstimated),
      firstLine(cycle.summary ?? cycle.message ?? '', 200),
    ]),
  }
}

function tookOf({ startedAt, endedAt }: Cycle, now: Date): number | null {
  if (startedAt === null) return null
  return (endedAt === null ? now.getTime() : Date.parse(endedAt)) - Date.parse(startedAt)
}

type Field = [string, string | null]

const linesOf = (fields: readonly Field[]) =>
  fields.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(10)} ${value}`]))

export function describeWatch(watch: Watch, now: Date): string[] {
  return linesOf([
    ['watch', `${watch.name} (${watch.id})`],
    ['state', `${stateOfWatch(watch)}; ${SOURCES[watch.source]}`],
    ['schedule', scheduleOf(watch)],
    ['next', nextOf(watch, now)],
    ['open cycle', watch.openCycleId],
    ['overlap', `${watch.overlap} a cycle that is due while another is open`],
    ['memory', memoryOf(watch)],
    ['agent', watch.agent ?? null],
    ['directory', watch.workDir],
    ['limits', limitsOf(watch)],
    ['events', eventsOf(watch)],
    ['tells', tellsOf(watch)],
    ['cycles', String(watch.cycles)],
    ['prompt', firstLine(watch.prompt, 400)],
  ])
}

const SOURCES = { config: 'defined in the configuration', api: 'made by command or API' } as const

function scheduleOf({ schedule, jitterMs }: Watch): string {
  if (schedule === null) return 'none, only when triggered'
  return `${schedule}${jitterMs ? `, up to ${formatDuration(jitterMs)} late by chance` : ''}`
}

export function nextOf({ nextAt, state }: Watch, now: Date): string {
  if (state === 'paused') return 'paused'
  return nextAt === null ? '–' : `${formatTime(nextAt, now)} (${formatDistance(nextAt, now)})`
}

function memoryOf({ memory, session, renewAfterMs, renewAfterCycles }: Watch): string {
  if (memory === 'fresh') return 'fresh: each cycle begins with a clean session'
  const renewed = [
    ...(renewAfterMs ? [formatDuration(renewAfterMs)] : []),
    ...(renewAfterCycles ? [count(renewAfterCycles, 'cycle')] : []),
  ]
  const anew = renewed.length > 0 ? `; anew after ${renewed.join(' or ')}` : ''
  return `persistent${session ? `, in ${session}` : ''}${anew}`
}

function limitsOf({
  maxTier,
  maxBudgetUsd,
  maxBudgetUsdPerDay,
  maxDurationMs,
  dryRun,
}: Watch): string | null {
  const parts = [
    ...(maxTier === undefined ? [] : [`up to tier ${maxTier}`]),
    ...(maxBudgetUsd === undefined ? [] : [`${formatCost(maxBudgetUsd)} a cycle`]),
    ...(maxBudgetUsdPerDay === undefined ? [] : [`${formatCost(maxBudgetUsdPerDay)} a day`]),
    ...(maxDurationMs === undefined ? [] : [`${formatDuration(maxDurationMs)} a cycle`]),
    ...(dryRun ? ['dry run'] : []),
  ]
  return parts.length === 0 ? null : parts.join(', ')
}

function eventsOf({ name, hasHookSecret, eventsPerHour }: Watch): string {
  const who = hasHookSecret ? 'with its secret' : "with the daemon's token only, it has no secret"
  const many = eventsPerHour === undefined ? '' : `; up to ${eventsPerHour} cycles an hour`
  return `POST /api/hooks/${name}, ${who}${many}`
}

function tellsOf({ notify, webhook, notifyFrom }: Watch): string | null {
  const parts = [
    ...(notify ? [notify.length === 0 ? 'none of the targets' : notify.join(', ')] : []),
    ...(webhook ? ['a webhook of its own'] : []),
    ...(notifyFrom ? [notifyFrom === 'change' ? 'changes' : `from ${notifyFrom} on`] : []),
  ]
  return parts.length === 0 ? null : parts.join('; ')
}

export function describeCycle(cycle: CycleDetail, style: Style, width: number, now: Date): string[] {
  const { usage } = cycle
  const at = (time: string | null) => (time === null ? null : formatTime(time, now))
  const fields = linesOf([
    ['cycle', `${cycle.id}, the ${ordinal(cycle.number)} of ${cycle.watch}`],
    ['state', `${resultOf(cycle)}${cycle.message ? `: ${cycle.message}` : ''}`],
    ['status', cycle.status ? `${cycle.status}${cycle.summary ? `: ${cycle.summary}` : ''}` : null],
    ['trigger', cycle.trigger],
    ['due', at(cycle.dueAt)],
    ['started', at(cycle.startedAt)],
    ['ended', at(cycle.endedAt)],
    ['ends by', cycle.state === 'ended' ? null : at(cycle.deadlineAt)],
    ['memory', cycle.renewed ? `began anew: ${cycle.renewed}` : null],
    [
      'tokens',
      `${formatTokens(usage.inputTokens)} in, ${formatTokens(usage.outputTokens)} out, cache ${formatTokens(usage.cacheReadTokens)} read, ${formatTokens(usage.cacheWriteTokens)} written`,
    ],
    ['cost', `${formatCost(cycle.costUsd, cycle.costEstimated)}, ${count(cycle.runs, 'run')}`],
    ['prompt', firstLine(cycle.prompt, 400)],
    ...cycle.events.map(
      (event): Field => ['event', `${at(event.receivedAt)} ${firstLine(event.title, 200)}`],
    ),
    ...cycle.followUps.map((followUp): Field => ['follow-up', followUpText(followUp, now)]),
  ]).map(style.safe)
  return [...fields, ...(cycle.chain ? chainLines(cycle.chain, style, width) : [])]
}

function ordinal(number: number): string {
  const suffixes: Record<string, string> = { one: 'st', two: 'nd', few: 'rd', other: 'th' }
  return `${number}${suffixes[new Intl.PluralRules('en', { type: 'ordinal' }).select(number)]}`
}
