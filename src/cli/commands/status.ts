/** `reprise status`: an overview of the daemon. Does not start it. */
import type { Command } from 'commander'
import { RepriseError } from '../../contract/errors.ts'
import type { Page, Status } from '../../contract/http.ts'
import type { Job } from '../../contract/job.ts'
import type { Obstacle } from '../../contract/obstacle.ts'
import type { Watch } from '../../contract/watch.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { findDaemon, homeOf } from '../daemon/link.ts'
import { noticeVersion } from '../daemon/version-notice.ts'
import { obstacleLines, pausedLines, quotaLines } from '../run/obstacle-text.ts'
import { runRows } from '../run/table.ts'
import { count, formatAge, formatBytes, formatDistance } from '../terminal/amounts.ts'
import { formatTable } from '../terminal/table.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'

export function define(command: Command, context: CliContext): void {
  command
    .description('Shows whether the daemon runs and what it does. Exits with 3 if it does not run.')
    .addHelpText('after', '\nExamples:\n  reprise status\n  reprise status --json | jq .runs')
    .action(() => showStatus(context))
}

async function showStatus(context: CliContext): Promise<void> {
  const home = homeOf(context)
  const daemon = await findDaemon(home)
  if (!daemon) {
    throw new RepriseError('daemon-unreachable', `no daemon is running on ${home}`, {
      hint: 'Start it with: reprise up',
    })
  }
  noticeVersion(context, daemon)
  const { client } = daemon
  const [status, agents, running, paused, watches, approvals] = await Promise.all([
    client.status(),
    client.listAgents(),
    client.listRuns({ state: 'running', limit: 10 }),
    client.listJobs({ state: 'paused', limit: 10 }),
    client.listWatches(),
    client.listApprovals(),
  ])
  if (context.json) {
    const lists = { running: running.items, paused: paused.items, watches, approvals }
    return printJson(context, { ...status, agents, ...lists })
  }

  const now = new Date()
  const style = styleFor(context.stdout, context.env)
  const lines = [
    `${style.bold('Reprise')} ${status.version} at ${status.url}`,
    `up for    ${formatAge(status.startedAt, now)} (pid ${status.pid}, ${formatBytes(status.memoryBytes)})`,
    `home      ${status.home}`,
    runsLine(status),
    sandboxLine(status.sandbox),
    ...keptLines(status.kept, now),
    ...storeLines(status.cannotStore, now).map((line) => style.red(line)),
    ...status.disks.map(({ message }) => style.red(style.safe(`disk      ${message}; new attempts wait`))),
    ...quarantineLines(status.quarantined, now).map((line) => style.red(style.safe(line))),
    ...obstacleLines(status.obstacles, now).map((line) => style.yellow(style.safe(line))),
    ...quotaLines(status.quotas, now).map(style.safe),
    ...watchLines(watches, now),
    ...[...needsYou(paused), ...pausedLines(status.paused), ...approvalLines(approvals.length)].map((line) =>
      style.yellow(line),
    ),
    ...agents.map(
      (agent) =>
        `agent     ${agent.name} ${agent.available ? (agent.version ?? '') : style.red(`not available: ${agent.problem}`)}${agent.simulated ? style.yellow(' (simulated, and so are its costs)') : ''}`,
    ),
    ...(status.simulator ? [`simulator ${status.simulator}`] : []),
  ]
  if (running.items.length > 0) {
    const { headings, rows } = runRows(running.items, now)
    lines.push('', ...formatTable(headings, rows, widthOf(context.stdout)).map(style.safe))
  }
  for (const line of lines) await printLine(context, line)
}

/** The processes that wait for the next turn of their conversation. */
const keptLines = (kept: Status['kept'], now: Date) =>
  kept.map(
    ({ agent, conversationId, since, until, memoryBytes }) =>
      `waiting   ${agent} for ${conversationId ?? 'a turn'}, since ${formatAge(since, now)}, at most until ${formatTime(until)}${memoryBytes === null ? '' : ` (${formatBytes(memoryBytes)})`}`,
  )

const sandboxLine = ({ kind }: Status['sandbox']) =>
  kind === 'none'
    ? 'sandbox   none: the rules of tiers are advisory (reprise doctor says more)'
    : `sandbox   ${kind}`

/** Runs that wait for the end of an outage or limit, or for a person, are not about to start: they are not counted as queued. */
export function runsLine({ runs, obstacles, paused }: Pick<Status, 'runs' | 'obstacles' | 'paused'>): string {
  const waitingFor = (kind: Obstacle['kind']) =>
    obstacles.filter((one) => one.kind === kind).reduce((sum, { waitingCount }) => sum + waitingCount, 0)
  const [outage, limit] = [waitingFor('outage'), waitingFor('limit')]
  const parts = [
    `${runs.running} running`,
    `${Math.max(0, runs.queued - outage - limit - paused.length)} queued`,
    ...(outage > 0 ? [`${outage} waiting for the end of an outage`] : []),
    ...(limit > 0 ? [`${limit} waiting for the end of a usage limit`] : []),
    ...(paused.length > 0 ? [`${paused.length} paused`] : []),
    `${runs.settled} settled`,
  ]
  return `runs      ${parts.join(', ')}`
}

function storeLines(failure: Status['cannotStore'], now: Date): string[] {
  if (!failure) return []
  return [
    `store     nothing could be stored for ${formatAge(failure.since, now)}: ${failure.why}`,
    '          Free disk space, or make the home writable. Until then, output of agents may be lost.',
  ]
}

function quarantineLines(quarantined: Status['quarantined'], now: Date): string[] {
  return quarantined.map(
    ({ runId, jobId, at, why }) =>
      `held back ${jobId ?? runId} since ${formatTime(at, now)}: ${withLocalTimes(why, now)}`,
  )
}

function needsYou({ items, nextCursor }: Page<Job>): string[] {
  if (items.length === 0) return []
  const many = nextCursor
    ? `more than ${items.length} jobs need`
    : `${count(items.length, 'job')} need${items.length === 1 ? 's' : ''}`
  return [`jobs      ${many} you: reprise jobs list --state paused`]
}

/** The number of active watches, and the next one that is due. */
export function watchLines(watches: readonly Watch[], now: Date): string[] {
  const active = watches.filter(({ state }) => state === 'active')
  if (watches.length === 0) return []
  const paused = watches.length - active.length
  const next = active
    .flatMap(({ name, nextAt }) => (nextAt === null ? [] : [{ name, nextAt }]))
    .sort((a, b) => a.nextAt.localeCompare(b.nextAt))[0]
  const due = next
    ? `; next: ${next.name} at ${formatTime(next.nextAt, now)} (${formatDistance(next.nextAt, now)})`
    : ''
  return [`watches   ${active.length} active${paused > 0 ? `, ${paused} paused` : ''}${due}`]
}

export function approvalLines(waiting: number): string[] {
  if (waiting === 0) return []
  return [`approvals ${count(waiting, 'tier')} waiting for your approval: reprise runs approvals`]
}
