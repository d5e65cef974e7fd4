/** `reprise sessions rm`: deletes a session. */
import type { Command } from 'commander'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { sessionArgument } from '../base/id-argument.ts'
import { connect } from '../daemon/connect.ts'

const EXPLANATION = `
Deletes the agent's transcript of the session, Reprise's copy of it, and the session
itself. Its runs stay until they are old (keep.runs). A conversation that used it starts
a new session at its next turn, with the history. A session in use is not deleted.`

export function defineRemove(command: Command, context: CliContext): void {
  command
    .command('rm')
    .summary("delete a session with the agent's files")
    .argument('<id>', "id of a session (ses_01J…), or the agent's own id", sessionArgument)
    .addHelpText('after', EXPLANATION)
    .action((id: string) => remove(id, context))
}

async function remove(id: string, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  await client.deleteSession(id)
  if (context.json) return printJson(context, { id, removed: true })
  await printLine(context, `deleted ${id}`)
}
