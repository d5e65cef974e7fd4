/** `reprise sessions list`, the default: the sessions of agents, newest first. */
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Session, SessionState } from '../../contract/session.ts'
import type { CliContext } from '../base/context.ts'
import { addListCommand } from '../list/list-command.ts'
import { formatAge, formatCost } from '../terminal/amounts.ts'
import { contextText } from './text.ts'

const STATES: readonly SessionState[] = ['created', 'active', 'paused', 'completed', 'expired', 'poisoned']

interface Filters {
  status?: SessionState
  agent?: string
  dir?: string
}

export function defineList(command: Command, context: CliContext): void {
  addListCommand<Session, never, Filters>(
    command,
    {
      what: 'sessions, newest first',
      filters: [
        new Option('--status <status>', 'only sessions in this state').choices(STATES),
        new Option('--agent <name>', 'only sessions of this agent'),
        new Option('--dir <directory>', 'only sessions of this directory'),
      ],
      read: (client, { dir, ...request }) =>
        client.listSessions({
          ...request,
          ...(dir === undefined ? {} : { workDir: resolve(context.cwd, dir) }),
        }),
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
