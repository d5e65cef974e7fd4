/** `reprise sessions list`, the default: the sessions of agents, last used first. */
import type { Command } from 'commander'
import type { Session } from '../../contract/session.ts'
import type { CliContext } from '../base/context.ts'
import { addListCommand } from '../list/list-command.ts'
import { formatAge, formatCost } from '../terminal/amounts.ts'
import { contextText } from './text.ts'

export function defineList(command: Command, context: CliContext): void {
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
      contextText(session),
      formatCost(session.costUsd),
      session.workDir,
    ]),
  }
}
