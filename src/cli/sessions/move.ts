/** `reprise sessions move`: continues a session in another work directory. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { SessionMove } from '../../contract/session-transfer.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { sessionArgument } from '../base/id-argument.ts'
import { usageError } from '../base/usage-error.ts'
import { connect } from '../daemon/connect.ts'
import { styleFor } from '../terminal/terminal.ts'

interface MoveOptions {
  dir: string
  dryRun?: true
  yes?: true
}

export function defineMove(command: Command, context: CliContext): void {
  command
    .command('move')
    .summary('continue a session in another work directory')
    .description(
      'Moves a session to a directory that was renamed, or to another one such as a new worktree. The conversation or the jobs ' +
        'that continue in it move too. A move to another directory must be confirmed with --yes.',
    )
    .argument('<id>', "id of a session (ses_01J…), or the agent's own id", sessionArgument)
    .requiredOption('--dir <directory>', 'its new work directory')
    .option('--dry-run', 'only show the consequences')
    .option('--yes', 'move it even if it is another directory')
    .action((id: string, options: MoveOptions) => move(id, options, context))
}

/** The consequences are shown before anything is changed. */
async function move(id: string, { dir, dryRun, yes }: MoveOptions, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const workDir = resolve(context.cwd, dir)
  const plan = await client.planSessionMove(id, workDir)
  const { safe } = styleFor(context.stdout, context.env)
  if (!dryRun && !plan.same && !yes) throw usageError(moveLines(plan).join('; '), 'Confirm with --yes.')
  const done = dryRun ? plan : await client.moveSession(id, workDir)
  if (context.json) return printJson(context, done)
  for (const line of moveLines(done)) await printLine(context, safe(line))
  if (!dryRun) await printLine(context, safe(`moved ${done.session} to ${done.to}`))
}

function moveLines({ session, to, why, conversation, jobs }: SessionMove): string[] {
  return [
    `${session} to ${to}: ${why}`,
    ...(conversation ? [`the conversation ${conversation} moves too`] : []),
    ...jobs.map((job) => `the job ${job} continues there too`),
  ]
}
