/** `reprise sessions`: the agents' memories of conversations, and whether they can be continued. */
import type { Command } from 'commander'
import { formatAge, formatBytes, formatCost, formatTokens } from './amounts.ts'
import { type CliContext, notify, printJson, printLine } from './context.ts'
import { connect } from './daemon-connect.ts'
import { wholeNumber } from './run-options.ts'
import { refuseWords } from './subcommand.ts'
import { formatTable } from './table.ts'
import { styleFor, widthOf } from './terminal.ts'
import { usageError } from './usage-error.ts'

const EXAMPLES = `
Examples:
  reprise sessions
  reprise sessions show ses_…
  reprise sessions show 3f0c1e52-…           by the agent's own id
  reprise run --session ses_… "Go on"        continue one`

interface ListOptions {
  limit?: number
  cursor?: string
}

export function define(command: Command, context: CliContext): void {
  command
    .description("Lists the agents' sessions, last used first, or shows one.")
    .addHelpText('after', EXAMPLES)
  command
    .command('list', { isDefault: true })
    .summary('list sessions, last used first')
    .option('--limit <n>', 'how many (1 to 200, default 20)', wholeNumber)
    .option('--cursor <cursor>', 'go on where a list ended (its nextCursor)')
    .allowExcessArguments(true)
    .action((options: ListOptions, self: Command) => {
      refuseWords(self)
      return list(options, context)
    })
  command
    .command('show')
    .summary('show one session with its transcript and runs')
    .argument('<id>', "our id (ses_01J…) or the agent's own")
    .action((id: string) => show(id, context))
}

async function list(options: ListOptions, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const page = await client.listSessions({ ...options, limit: options.limit ?? 20 })
  if (context.json) return printJson(context, page)
  if (page.items.length === 0) return notify(context, 'No sessions yet. A run makes one: reprise run "…"')
  const now = new Date()
  const style = styleFor(context.stdout, context.env)
  const headings = ['ID', 'STATE', 'AGENT', 'USED', 'TURNS', 'CONTEXT', 'COST', 'DIRECTORY']
  const rows = page.items.map((session) => [
    session.id,
    session.state,
    session.agent,
    formatAge(session.lastUsedAt, now),
    String(session.turns),
    contextOf(session),
    formatCost(session.costUsd),
    session.workDir,
  ])
  const [heading = '', ...lines] = formatTable(headings, rows, widthOf(context.stdout))
  await printLine(context, style.dim(heading))
  for (const line of lines) await printLine(context, style.safe(line))
  if (page.nextCursor) notify(context, style.dim(`More: reprise sessions list --cursor ${page.nextCursor}`))
}

async function show(id: string, context: CliContext): Promise<void> {
  // In a URL these would mean another path.
  if (!/^\w[\w.:-]*$/.test(id)) throw usageError(`${JSON.stringify(id)} is not the id of a session`)
  const { client } = await connect(context)
  const session = await client.getSession(id)
  if (context.json) return printJson(context, session)
  const { transcript } = session
  const size = transcript.bytes === null ? '' : `, ${formatBytes(transcript.bytes)}`
  const fields: [string, string][] = [
    ['session', session.id],
    ['agent', `${session.agent}, which calls it ${session.agentSessionId}`],
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

function contextOf({
  contextTokens,
  contextWindow,
}: {
  contextTokens: number | null
  contextWindow: number | null
}) {
  if (contextTokens === null) return '–'
  const share = contextWindow ? ` (${Math.round((contextTokens / contextWindow) * 100)} %)` : ''
  return `${formatTokens(contextTokens)}${share}`
}
