/** `reprise down`: stops the daemon. The agents keep running. */
import type { Command } from 'commander'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { type Stopped, stopDaemon } from '../daemon/stop.ts'
import { count } from '../terminal/amounts.ts'

const EXAMPLES = `
Examples:
  reprise down            running agents continue; the next \`reprise up\` takes them over
  reprise down --cancel   cancels all open runs first, so that nothing keeps running
  reprise down --force    also ends a daemon that hangs`

export function define(command: Command, context: CliContext): void {
  command
    .description('Stops the daemon. Running agents continue, and the next daemon takes them over.')
    .option('--cancel', 'cancel all open runs first and wait until they have ended')
    .option('--force', 'end it by signals if it does not answer or does not end')
    .addHelpText('after', EXAMPLES)
    .action((options: { cancel?: boolean; force?: boolean }) => down(context, options))
}

async function down(
  context: CliContext,
  { cancel = false, force = false }: { cancel?: boolean; force?: boolean },
): Promise<void> {
  const stopped = await stopDaemon(context, { cancel, force })
  if (!stopped) {
    if (context.json) return printJson(context, { wasRunning: false })
    return printLine(context, 'No daemon was running.')
  }
  const { pid, cancelled, left, forced } = stopped
  if (context.json) {
    return printJson(context, { wasRunning: true, pid, cancelled, runs: left?.runs ?? null, forced })
  }
  await printLine(context, `${forced ? 'Ended' : 'Stopped'} the daemon (pid ${pid}).${afterwards(left)}`)
}

/** Paused runs wait for more than a daemon. */
function afterwards(left: Stopped['left']): string {
  if (left === null)
    return ' It did not answer. Running agents continue; the next `reprise up` takes them over.'
  const queued = left.runs.queued - left.paused.length
  const { running } = left.runs
  const parts = [
    ...(running > 0 ? [`takes over ${count(running, 'running agent')}`] : []),
    ...(queued > 0 ? [`starts ${count(queued, 'queued run')}`] : []),
  ]
  return parts.length === 0 ? '' : ` The next \`reprise up\` ${parts.join(' and ')}.`
}
