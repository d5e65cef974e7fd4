/** `reprise status`: one screen on what the daemon is doing. Does not start it. */
import type { Command } from 'commander'
import { RepriseError } from '../contract/errors.ts'
import type { Page } from '../contract/http.ts'
import type { Job } from '../contract/job.ts'
import { count, formatAge, formatBytes } from './amounts.ts'
import { type CliContext, printJson, printLine } from './context.ts'
import { findDaemon, homeOf } from './daemon-link.ts'
import { runRows } from './run-table.ts'
import { formatTable } from './table.ts'
import { styleFor, widthOf } from './terminal.ts'

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
  const [status, agents, running, paused] = await Promise.all([
    client.status(),
    client.listAgents(),
    client.listRuns({ state: 'running', limit: 10 }),
    client.listJobs({ state: 'paused', limit: 10 }),
  ])
  if (context.json) {
    return printJson(context, { ...status, agents, running: running.items, paused: paused.items })
  }

  const now = new Date()
  const style = styleFor(context.stdout, context.env)
  const { queued, running: active, settled } = status.runs
  const lines = [
    `${style.bold('Reprise')} ${status.version} at ${status.url}`,
    `up for    ${formatAge(status.startedAt, now)} (pid ${status.pid}, ${formatBytes(status.memoryBytes)})`,
    `home      ${status.home}`,
    `runs      ${active} running, ${queued} queued, ${settled} settled`,
    ...needsYou(paused).map((line) => style.yellow(line)),
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

function needsYou({ items, nextCursor }: Page<Job>): string[] {
  if (items.length === 0) return []
  const many = nextCursor
    ? `more than ${items.length} jobs need`
    : `${count(items.length, 'job')} need${items.length === 1 ? 's' : ''}`
  return [`jobs      ${many} you: reprise jobs list --state paused`]
}
