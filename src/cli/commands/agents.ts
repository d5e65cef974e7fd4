/** `reprise agents`: lists the agents on this machine. */
import type { Command } from 'commander'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { connect } from '../daemon/connect.ts'
import { formatTable } from '../terminal/table.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'

export function define(command: Command, context: CliContext): void {
  command
    .description('Lists the agents found on this machine. Exits with 4 if none is available.')
    .addHelpText('after', '\nExamples:\n  reprise agents\n  reprise agents --json')
    .action(() => list(context))
}

async function list(context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const agents = await client.listAgents()
  if (!agents.some((agent) => agent.available)) context.exitCode = EXIT.agentUnavailable
  if (context.json) return printJson(context, { items: agents })
  const { safe } = styleFor(context.stdout, context.env)
  const rows = agents.map((agent) => [
    agent.name,
    agent.version ?? '–',
    agent.simulated ? 'simulator' : agent.loggedIn === false ? 'not logged in' : 'ready',
    agent.available ? (agent.path ?? agent.command) : `not available: ${agent.problem}`,
  ])
  for (const line of formatTable(['NAME', 'VERSION', 'MODEL', 'EXECUTABLE'], rows, widthOf(context.stdout))) {
    await printLine(context, safe(line))
  }
}
