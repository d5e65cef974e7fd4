/** `reprise status`: one screen on what the daemon is doing. Does not start it. */
import type { Command } from 'commander'
import { RepriseError } from '../../contract/errors.ts'
import type { Page, Status } from '../../contract/http.ts'
import type { Job } from '../../contract/job.ts'
import type { Watch } from '../../contract/watch.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { findDaemon, homeOf } from '../daemon/link.ts'
import { obstacleLines, pausedLines, quotaLines } from '../run/obstacle-text.ts'
import { runRows } from '../run/table.ts'
import { count, formatAge, formatBytes, formatDistance } from '../terminal/amounts.ts'
import { formatTable } from '../terminal/table.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'

export function define(command: Command, context: CliContext): void {
  command
    .description('Shows whether the daemon runs, and what it is doing. Exits with 3 if it does not run.')
    .addHelpText('after', '\nExamples:\n  reprise status\n  reprise status --json | jq .runs')
    .action(() => showStatus(context))
}

async function showStatus(context: CliContext): Promise<void> {
  const home = homeOf(context)
  const daemon = await findDaemon(home)
  if (!daemon) {
    throw new RepriseError('daemon-unreachable', `no daemon is running on ${home}`, {
      hint: '`reprise up` starts it.',
    })
  }
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
  const { queued, running: active, settled } = status.runs
  const lines = [
    `${style.bold('Reprise')} ${status.version} at ${status.url}`,
    `up for    ${formatAge(status.startedAt, now)} (pid ${status.pid}, ${formatBytes(status.memoryBytes)})`,
    `home      ${status.home}`,
    `runs      ${active} running, ${queued} queued, ${settled} settled`,
    ...storeLines(status.cannotStore, now).map((line) => style.red(line)),
    ...quarantineLines(status.quarantined, now).map((line) => style.red(style.safe(line))),
    ...obstacleLines(status.obstacles, now).map((line) => style.yellow(style.safe(line))),
    ...quotaLines(status.quotas, now).map(style.safe),
    ...watchLines(watches, now),
    ...[...needsYou(paused), ...pausedLines(status.paused), ...approvalLines(approvals.length)].map((line) =>
      style.yellow(line),
    ),
    ...agents.map(
      (agent) =>
        `agent     ${agent.name} ${agent.available ? (agent.version ?? '') : style.red(`not available: ${agent.problem}`)}${agent.simulated ? style.yellow(' (simulated)') : ''}`,
    ),
    ...(status.simulator ? [`simulator ${status.simulator}`] : []),
  ]
  if (running.items.length > 0) {
    const { headings, rows } = runRows(running.items, now)
    lines.push('', ...formatTable(headings, rows, widthOf(context.stdout)).map(style.safe))
  }
  for (const line of lines) await printLine(context, line)
}

function storeLines(failure: Status['cannotStore'], now: Date): string[] {
  if (!failure) return []
  return [
    `store     nothing can be stored for ${formatAge(failure.since, now)}: ${failure.why}`,
    '          Make room, or make the home writable again. What agents print meanwhile may be lost.',
  ]
}

function quarantineLines(quarantined: Status['quarantined'], now: Date): string[] {
  return quarantined.map(
    ({ runId, jobId, at, why }) => `held      ${jobId ?? runId} since ${formatTime(at, now)}: ${why}`,
  )
}

function needsYou({ items, nextCursor }: Page<Job>): string[] {
  if (items.length === 0) return []
  const many = nextCursor
    ? `more than ${items.length} jobs need`
    : `${count(items.length, 'job')} need${items.length === 1 ? 's' : ''}`
  return [`jobs      ${many} you: reprise jobs list --state paused`]
}

/** How many are active, and which of them is due next. */
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
  return [
    `approvals ${count(waiting, 'tier')} wait${waiting === 1 ? 's' : ''} for you: reprise runs approvals`,
  ]
}
