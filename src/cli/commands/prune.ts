/** `reprise prune`: deletes what is older than the settings in `keep` say, and gives the space back. */
import type { Command } from 'commander'
import type { PruneReport } from '../../contract/prune.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { connect } from '../daemon/connect.ts'
import { formatSize } from '../terminal/amounts.ts'

const EXPLANATION = `
The daemon does this every hour by itself; \`reprise prune\` does it now and makes the
database as small as possible. How long things are kept is set by keep.runs, keep.events,
keep.transcripts, keep.sessions, keep.output and keep.checkpoints (a duration or forever).
Nothing goes that a conversation, a session in use, a planned follow-up or an open job
needs. Totals stay.

Examples:
  reprise prune --dry-run      show what would go
  reprise prune`

export function define(command: Command, context: CliContext): void {
  command
    .description('Deletes what is old, and gives the space back.')
    .option('--dry-run', 'only show what would be deleted')
    .addHelpText('after', EXPLANATION)
    .action((options: { dryRun?: true }) => prune(options, context))
}

async function prune({ dryRun = false }: { dryRun?: boolean }, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const report = await client.prune({ dryRun })
  if (context.json) return printJson(context, report)
  for (const line of pruneLines(report)) await printLine(context, line)
}

export function pruneLines({ dryRun, items, freedBytes, databaseBytes }: PruneReport): string[] {
  const width = Math.max(...items.map(({ count }) => String(count).length), 0)
  const rows = items.map(({ kind, count, bytes }) => {
    const size = bytes > 0 ? `  ${formatSize(bytes)}` : ''
    return `${kind.padEnd(14)} ${String(count).padStart(width)}${size}`
  })
  const database = `The database has ${formatSize(databaseBytes)}.`
  if (items.length === 0 && freedBytes <= 0) return [`Nothing is old enough to be deleted. ${database}`]
  const sum = formatSize(Math.max(0, freedBytes))
  return [...rows, dryRun ? `Would free about ${sum}. ${database}` : `Freed ${sum}. ${database}`]
}
