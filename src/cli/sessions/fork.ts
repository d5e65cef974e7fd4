/** `reprise sessions fork`: branches a session. */
import type { Command } from 'commander'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { sessionArgument } from '../base/id-argument.ts'
import { connect } from '../daemon/connect.ts'
import { count } from '../terminal/amounts.ts'

export function defineFork(command: Command, context: CliContext): void {
  command
    .command('fork')
    .summary('branch a session at its end or at an earlier message')
    .description(
      'Makes a session of its own with the same past. Both continue independently; what the past has cost stays with the original.',
    )
    .argument('<id>', "id of a session (ses_01J…), or the agent's own id", sessionArgument)
    .option(
      '--at <message>',
      "the last thing that the fork knows: a run (run_01J…), or the agent's own id of a message; a question is kept with its answer",
    )
    .action((id: string, options: { at?: string }) => fork(id, options.at, context))
}

async function fork(id: string, at: string | undefined, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const made = await client.forkSession(id, { at })
  if (context.json) return printJson(context, made)
  await printLine(context, `Forked ${made.from} after ${count(made.turns, 'turn')}: ${made.session}`)
  notify(context, `Continue with: reprise run --session ${made.session} "…"`)
}
