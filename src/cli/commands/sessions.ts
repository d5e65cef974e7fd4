/** `reprise sessions`: the agents' memories of conversations, and whether they can be continued. */
import type { Command } from 'commander'
import type { Session } from '../../contract/session.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { usageError } from '../base/usage-error.ts'
import { connect } from '../daemon/connect.ts'
import { addListCommand } from '../list/list-command.ts'
import { formatAge, formatCost, formatSize, formatTokens } from '../terminal/amounts.ts'
import { styleFor } from '../terminal/terminal.ts'

const EXAMPLES = `
Examples:
  reprise sessions
  reprise sessions show ses_…
  reprise sessions show 3f0c1e52-…           by the agent's own id
  reprise run --session ses_… "Go on"        continue one`

export function define(command: Command, context: CliContext): void {
  command
    .description("Lists the agents' sessions, last used first, or shows one.")
    .addHelpText('after', EXAMPLES)
  addListCommand(
    command,
    {
      what: 'sessions, last used first',
      read: (client, request) => client.listSessions(request),
      none: 'No sessions yet. A run makes one: reprise run "…"',
      table: sessionRows,
    },
    context,
  )
  command
    .command('show')
    .summary('show one session with its transcript and runs')
    .argument('<id>', "our id (ses_01J…) or the agent's own")
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
  // In a URL these would mean another path.
  if (!/^\w[\w.:-]*$/.test(id)) throw usageError(`${JSON.stringify(id)} is not the id of a session`)
  const { client } = await connect(context)
  const session = await client.getSession(id)
  if (context.json) return printJson(context, session)
  const { transcript } = session
  const size = transcript.bytes === null ? '' : `, ${formatSize(transcript.bytes)}`
  const fields: [string, string][] = [
    ['session', session.id],
    ['agent', `${session.agent}, which calls it ${session.agentSessionId}`],
    ['version', session.agentVersion ?? 'not known'],
    ['state', `${session.state}${session.poison ? `: ${session.poison}` : ''}`],
    ['directory', session.workDir],
    ['turns', `${session.turns}, resumed ${session.resumes} times`],
    ['context', contextOf(session)],
    ['cost', formatCost(session.costUsd)],
    ['created', session.createdAt],
    ['last used', session.lastUsedAt],
    ['transcript', `${transcript.state}${size}${transcript.path ? ` (${transcript.path})` : ''}`],
    ['held by', session.heldBy ?? 'nobody'],
    ['runs', session.runIds.join(' ') || 'none'],
  ]
  const { safe } = styleFor(context.stdout, context.env)
  for (const [name, value] of fields) await printLine(context, safe(`${name.padEnd(10)} ${value}`))
}

function contextOf({ contextTokens, contextWindow }: Session): string {
  if (contextTokens === null) return '–'
  const share = contextWindow ? ` (${Math.round((contextTokens / contextWindow) * 100)} %)` : ''
  return `${formatTokens(contextTokens)}${share}`
}
