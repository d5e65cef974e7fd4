/** Watches and their cycles as text. */
import type { Cycle, CycleDetail } from '../../contract/cycle.ts'
import type { Watch } from '../../contract/watch.ts'
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
import { formatTime, withLocalTimes } from '../terminal/time.ts'

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
  openCycleId ? `${state}, running` : state

/** The outcome of a cycle, or its state if it has not ended. */
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
      withLocalTimes(firstLine(cycle.summary ?? cycle.message ?? '', 200), now),
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
    ['overlap', `${watch.overlap} a cycle that is due while another one is open`],
    ['memory', memoryOf(watch)],
    ['agent', watch.agent ?? null],
    ['directory', watch.workDir],
    ['limits', limitsOf(watch)],
    ['events', eventsOf(watch)],
    ['notifies', notifiesOf(watch)],
    ['cycles', String(watch.cycles)],
    ['prompt', firstLine(watch.prompt, 400)],
  ])
}

const SOURCES = { config: 'defined in the configuration', api: 'created by command or API' } as const

function scheduleOf({ schedule, jitterMs }: Watch): string {
  if (schedule === null) return 'none; runs only when triggered'
  return `${schedule}${jitterMs ? `, plus a random delay of up to ${formatDuration(jitterMs)}` : ''}`
}

export function nextOf({ nextAt, state }: Watch, now: Date): string {
  if (state === 'paused') return 'paused'
  return nextAt === null ? '–' : `${formatTime(nextAt, now)} (${formatDistance(nextAt, now)})`
}

function memoryOf({ memory, session, renewAfterMs, renewAfterCycles }: Watch): string {
  if (memory === 'fresh') return 'fresh: each cycle starts a new session'
  const renewed = [
    ...(renewAfterMs ? [formatDuration(renewAfterMs)] : []),
    ...(renewAfterCycles ? [count(renewAfterCycles, 'cycle')] : []),
  ]
  const anew = renewed.length > 0 ? `; new session after ${renewed.join(' or ')}` : ''
  return `persistent${session ? `, in session ${session}` : ''}${anew}`
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
    ...(maxBudgetUsd === undefined ? [] : [`${formatCost(maxBudgetUsd)} per cycle`]),
    ...(maxBudgetUsdPerDay === undefined ? [] : [`${formatCost(maxBudgetUsdPerDay)} per day`]),
    ...(maxDurationMs === undefined ? [] : [`${formatDuration(maxDurationMs)} per cycle`]),
    ...(dryRun ? ['dry run'] : []),
  ]
  return parts.length === 0 ? null : parts.join(', ')
}

function eventsOf({ name, hasHookSecret, eventsPerHour }: Watch): string {
  const who = hasHookSecret ? 'with its hook secret' : "with the daemon's token (it has no hook secret)"
  const many = eventsPerHour === undefined ? '' : `; up to ${eventsPerHour} cycles per hour`
  return `POST /api/hooks/${name}, ${who}${many}`
}

function notifiesOf({ notify, webhook, notifyFrom }: Watch): string | null {
  const parts = [
    ...(notify ? [notify.length === 0 ? 'no targets' : notify.join(', ')] : []),
    ...(webhook ? ['its own webhook'] : []),
    ...(notifyFrom ? [notifyFrom === 'change' ? 'only changes' : `level ${notifyFrom} and above`] : []),
  ]
  return parts.length === 0 ? null : parts.join('; ')
}

export function describeCycle(cycle: CycleDetail, style: Style, width: number, now: Date): string[] {
  const { usage } = cycle
  const at = (time: string | null) => (time === null ? null : formatTime(time, now))
  const fields = linesOf([
    ['cycle', `${cycle.id}, number ${cycle.number} of ${cycle.watch}`],
    ['state', `${resultOf(cycle)}${cycle.message ? `: ${withLocalTimes(cycle.message, now)}` : ''}`],
    ['status', cycle.status ? `${cycle.status}${cycle.summary ? `: ${cycle.summary}` : ''}` : null],
    ['trigger', cycle.trigger],
    ['due', at(cycle.dueAt)],
    ['started', at(cycle.startedAt)],
    ['ended', at(cycle.endedAt)],
    ['deadline', cycle.state === 'ended' ? null : at(cycle.deadlineAt)],
    ['memory', cycle.renewed ? `new session: ${withLocalTimes(cycle.renewed, now)}` : null],
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
