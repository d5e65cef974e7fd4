/** `reprise sessions show`: one session. */
import type { Command } from 'commander'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { connect } from '../daemon/connect.ts'
import { count, formatCost, formatSize } from '../terminal/amounts.ts'
import { styleFor } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'
import { sessionArgument } from './argument.ts'
import { contextText, originText } from './text.ts'

export function defineShow(command: Command, context: CliContext): void {
  command
    .command('show')
    .summary('show one session with its transcript and runs')
    .argument('<id>', "id of a session (ses_01J…), or the agent's own id", sessionArgument)
    .action((id: string) => show(id, context))
}

async function show(id: string, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const session = await client.getSession(id)
  if (context.json) return printJson(context, session)
  const { transcript } = session
  const size = transcript.bytes === null ? '' : `, ${formatSize(transcript.bytes)}`
  const fields: [string, string][] = [
    ['session', session.id],
    ['agent', session.agent],
    ['agent id', session.agentSessionId],
    ['version', session.agentVersion ?? 'unknown'],
    ['state', `${session.state}${session.poison ? `: ${session.poison}` : ''}`],
    ['directory', session.workDir],
    ['turns', `${session.turns}, resumed ${count(session.resumes, 'time')}`],
    ['context', contextText(session)],
    ['cost', formatCost(session.costUsd)],
    ['created', formatTime(session.createdAt)],
    ['last used', formatTime(session.lastUsedAt)],
    ['transcript', `${transcript.state}${size}${transcript.path ? ` (${transcript.path})` : ''}`],
    ['in use by', session.heldBy ?? '–'],
    ['origin', originText(session.origin)],
    ['runs', session.runIds.join(' ') || '–'],
  ]
  const { safe } = styleFor(context.stdout, context.env)
  for (const [name, value] of fields) await printLine(context, safe(`${name.padEnd(10)} ${value}`))
}
