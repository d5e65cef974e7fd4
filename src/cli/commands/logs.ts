/** `reprise logs`: the daemon's own log. Does not need the daemon. */
import { join } from 'node:path'
import type { Command } from 'commander'
import { between } from '../base/arguments.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { homeOf } from '../daemon/link.ts'
import { followLines, readTail } from '../logs/log-file.ts'
import { describeLogLine, toLogEntry } from '../logs/log-line.ts'
import { styleFor } from '../terminal/terminal.ts'

const DEFAULT_LINES = 50

const EXAMPLES = `
The log of a daemon in the background is daemon.log in the home. A daemon in the foreground (\`reprise up --foreground\`)
writes its log to its own stderr instead.

Examples:
  reprise logs                   the last ${DEFAULT_LINES} lines
  reprise logs --follow          and what is added, until Ctrl-C
  reprise logs --lines 500 --json | jq 'select(.level >= 40)'
  reprise jobs logs ID           what an agent did`

interface LogOptions {
  follow?: boolean
  lines?: number
}

export function define(command: Command, context: CliContext): void {
  command
    .description("Shows the daemon's log. With --json: its entries as they are.")
    .option('-f, --follow', 'go on with what is added, until Ctrl-C')
    .option('-n, --lines <n>', `number of lines (default ${DEFAULT_LINES})`, between(0, 100_000))
    .addHelpText('after', EXAMPLES)
    .action((options: LogOptions) => showLog(options, context))
}

async function showLog(
  { follow = false, lines = DEFAULT_LINES }: LogOptions,
  context: CliContext,
): Promise<void> {
  const path = join(homeOf(context), 'daemon.log')
  const style = styleFor(context.stdout, context.env)
  const show = (line: string) =>
    context.json
      ? printJson(context, toLogEntry(line))
      : printLine(context, describeLogLine(line, style, new Date()))
  const tail = await readTail(path, lines)
  if (!tail) notify(context, `There is no log yet at ${path}.`)
  for (const line of tail?.lines ?? []) await show(line)
  if (!follow) return
  for await (const line of followLines(path, tail?.end ?? null)) await show(line)
}
