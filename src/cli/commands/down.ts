/** `reprise down`: stops the daemon. The agents keep running. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Run } from '../../contract/run.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { findDaemon, homeOf, isAlive } from '../daemon/link.ts'
import { count } from '../terminal/amounts.ts'

const EXAMPLES = `
Examples:
  reprise down            running agents continue; the next \`reprise up\` takes them over
  reprise down --cancel   cancels all open runs first, so that nothing keeps running`

const GONE_WITHIN_MS = 20_000

export function define(command: Command, context: CliContext): void {
  command
    .description('Stops the daemon. Running agents continue, and the next daemon takes them over.')
    .option('--cancel', 'cancel all open runs first and wait until they have ended')
    .addHelpText('after', EXAMPLES)
    .action((options: { cancel?: boolean }) => stopDaemon(context, options.cancel === true))
}

async function stopDaemon(context: CliContext, cancel: boolean): Promise<void> {
  const daemon = await findDaemon(homeOf(context))
  if (!daemon) {
    if (context.json) return printJson(context, { wasRunning: false })
    return printLine(context, 'No daemon was running.')
  }
  const { client, pid } = daemon
  const cancelled = cancel ? await cancelOpenRuns(client, context) : 0
  const { runs, paused } = await client.status()
  await client.shutdown()
  await waitUntilGone(pid)
  if (context.json) return printJson(context, { wasRunning: true, pid, cancelled, runs })
  await printLine(
    context,
    `Stopped the daemon (pid ${pid}).${afterwards({ ...runs, queued: runs.queued - paused.length })}`,
  )
}

/** `queued`: without paused runs, which wait for more than a daemon. */
function afterwards({ running, queued }: { running: number; queued: number }): string {
  const parts = [
    ...(running > 0 ? [`takes over ${count(running, 'running agent')}`] : []),
    ...(queued > 0 ? [`starts ${count(queued, 'queued run')}`] : []),
  ]
  return parts.length === 0 ? '' : ` The next \`reprise up\` ${parts.join(' and ')}.`
}

async function cancelOpenRuns(client: Client, context: CliContext): Promise<number> {
  // Queued runs first: otherwise each run that ends makes room for the next one to start.
  const open = [...(await listAll(client, 'queued')), ...(await listAll(client, 'running'))]
  if (open.length > 0 && !context.json) notify(context, `Cancelling ${count(open.length, 'run')} …`)
  for (const { id } of open) {
    await client.cancelRun(id).catch((error: unknown) => {
      if (!(error instanceof RepriseError) || error.code !== 'run-settled') throw error
    })
  }
  for (const { id } of open) await client.whenSettled(id)
  return open.length
}

async function listAll(client: Client, state: Run['state']): Promise<Run[]> {
  const found: Run[] = []
  let cursor: string | undefined
  do {
    const page = await client.listRuns({ state, limit: 200, cursor })
    found.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return found
}

async function waitUntilGone(pid: number): Promise<void> {
  const until = performance.now() + GONE_WITHIN_MS
  while (isAlive(pid)) {
    if (performance.now() > until) {
      throw new RepriseError('internal', `the daemon (pid ${pid}) was asked to stop, but is still running`, {
        hint: `End it with: kill ${pid}`,
      })
    }
    await sleep(20)
  }
}
