/** `reprise sessions show`: one session with its files, runs and follow-ups. */
import type { Command } from 'commander'
import type { SessionDetail } from '../../contract/session.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { sessionArgument } from '../base/id-argument.ts'
import { connect } from '../daemon/connect.ts'
import { followUpRows } from '../follow-ups/text.ts'
import { count, formatAge, formatCost, formatSize, formatTokens } from '../terminal/amounts.ts'
import { printTable } from '../terminal/print-page.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'
import { contextText, copyText } from './text.ts'

export function defineShow(command: Command, context: CliContext): void {
  command
    .command('show')
    .summary('show one session with its transcript, runs and follow-ups')
    .argument('<id>', "id of a session (ses_01J…), or the agent's own id", sessionArgument)
    .action((id: string) => show(id, context))
}

const SHOWN = 10

async function show(id: string, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const session = await client.getSession(id)
  if (context.json) return printJson(context, session)
  const { safe } = styleFor(context.stdout, context.env)
  const now = new Date()
  for (const [name, value] of fieldsOf(session)) {
    await printLine(context, safe(`${name.padEnd(10)} ${value}`))
  }
  const tables = [
    { ...runRows(session, now), title: 'runs', total: session.runs.length },
    {
      ...followUpRows(session.followUps.slice(0, SHOWN), now),
      title: 'follow-ups',
      total: session.followUps.length,
    },
  ]
  for (const { title, total, headings, rows } of tables) {
    if (total === 0) continue
    const shown = total > SHOWN ? `${title}, the newest ${SHOWN} of ${total}` : title
    await printLine(context, `\n${shown}`)
    await printTable(context, { headings, rows })
  }
}

function fieldsOf(session: SessionDetail): [string, string][] {
  const { transcript, usage } = session
  const size = transcript.bytes === null ? '' : `, ${formatSize(transcript.bytes)}`
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
  const since = session.stateSince ? ` since ${formatTime(session.stateSince)}` : ''
  const bytes = session.files.reduce((sum, file) => sum + file.bytes, 0)
  return [
    ['session', session.id],
    ['agent', session.agent],
    ['agent id', session.agentSessionId],
    ['version', session.agentVersion ?? 'unknown'],
    ['state', session.poison ? `${session.state}: ${session.poison}` : `${session.state}${since}`],
    ['origin', session.origin === 'adopted' ? 'adopted: made outside Reprise' : 'Reprise'],
    ['directory', session.workDir],
    [
      'turns',
      `${session.turns}, ${count(session.messages, 'message')}, resumed ${count(session.resumes, 'time')}`,
    ],
    ['stopped', session.stopReason ?? '–'],
    ['context', contextText(session)],
    ['tokens', `${formatTokens(input)} in, ${formatTokens(usage.outputTokens)} out`],
    ['cost', formatCost(session.costUsd)],
    ['created', formatTime(session.createdAt)],
    ['last used', formatTime(session.lastUsedAt)],
    ['resumable', `until ${formatTime(session.resumableUntil)}`],
    ...(session.archivedAt ? [['archived', formatTime(session.archivedAt)] as [string, string]] : []),
    ['transcript', `${transcript.state}${size}${transcript.path ? ` (${transcript.path})` : ''}`],
    ['files', session.files.length === 0 ? '–' : `${session.files.length}, ${formatSize(bytes)}`],
    ...(session.continues ? [['continues', session.continues] as [string, string]] : []),
    ...(session.continuedBy.length > 0
      ? [['continued', `by ${session.continuedBy.join(' ')}`] as [string, string]]
      : []),
    ['in use by', session.heldBy ?? '–'],
    ['copied from', copyText(session.copiedFrom)],
    ...(session.conversationId
      ? [['chat', `${session.conversationId} (reprise chat ${session.conversationId})`] as [string, string]]
      : []),
  ]
}

function runRows({ runs }: SessionDetail, now: Date) {
  return {
    headings: ['RUN', 'OUTCOME', 'AGE', 'CONTEXT', 'COST', 'PROMPT'],
    rows: runs
      .slice(0, SHOWN)
      .map((run) => [
        run.id,
        run.outcome ?? run.state,
        formatAge(run.createdAt, now),
        contextText(run),
        formatCost(run.costUsd),
        firstLine(run.prompt, 200),
      ]),
  }
}
