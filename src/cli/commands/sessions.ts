/** `reprise sessions`: lists and shows the sessions of agents. */
import type { Command } from 'commander'
import type { Session } from '../../contract/session.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { usageError } from '../base/usage-error.ts'
import { connect } from '../daemon/connect.ts'
import { addListCommand } from '../list/list-command.ts'
import { count, formatAge, formatCost, formatSize, formatTokens } from '../terminal/amounts.ts'
import { styleFor } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'

const EXAMPLES = `
Examples:
  reprise sessions
  reprise sessions show ses_…
  reprise sessions show 3f0c1e52-…           by the agent's own id
  reprise run --session ses_… "Continue"     continue one`

export function define(command: Command, context: CliContext): void {
  command
    .description("Lists the agents' sessions, last used first, or shows one.")
    .addHelpText('after', EXAMPLES)
  addListCommand(
    command,
    {
      what: 'sessions, last used first',
      read: (client, request) => client.listSessions(request),
      none: 'No sessions yet. Start one with: reprise run "…"',
      table: sessionRows,
    },
    context,
  )
  command
    .command('show')
    .summary('show one session with its transcript and runs')
    .argument('<id>', "id of a session (ses_01J…), or the agent's own id")
    .action((id: string) => show(id, context))
}

function sessionRows(sessions: readonly Session[], now: Date) {
  return {
    headings: ['ID', 'STATE', 'AGENT', 'USED', 'TURNS', 'CONTEXT', 'COST', 'DIRECTORY'],
    rows: sessions.map((session) => [
      session.id,
      session.state,
      session.agent,
      formatAge(session.lastUsedAt, now),
      String(session.turns),
      contextOf(session),
      formatCost(session.costUsd),
      session.workDir,
    ]),
  }
}

async function show(id: string, context: CliContext): Promise<void> {
  // Other characters would change the path of the URL.
  if (!/^\w[\w.:-]*$/.test(id)) throw usageError(`${JSON.stringify(id)} is not the id of a session`)
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
    ['context', contextOf(session)],
    ['cost', formatCost(session.costUsd)],
    ['created', formatTime(session.createdAt)],
    ['last used', formatTime(session.lastUsedAt)],
    ['transcript', `${transcript.state}${size}${transcript.path ? ` (${transcript.path})` : ''}`],
    ['in use by', session.heldBy ?? '–'],
    ['runs', session.runIds.join(' ') || '–'],
  ]
  const { safe } = styleFor(context.stdout, context.env)
  for (const [name, value] of fields) await printLine(context, safe(`${name.padEnd(10)} ${value}`))
}

function contextOf({ contextTokens, contextWindow }: Session): string {
  if (contextTokens === null) return '–'
  const share = contextWindow ? ` (${Math.round((contextTokens / contextWindow) * 100)} %)` : ''
  return `${formatTokens(contextTokens)}${share}`
}
