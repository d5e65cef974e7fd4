/** `reprise conversations`: lists, shows, moves and deletes conversations. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Conversation } from '../../contract/conversation.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { idArgument, wholeIdArgument } from '../base/id-argument.ts'
import { usageError } from '../base/usage-error.ts'
import { conversationLines, layOutMessages, moveLines, titleOf } from '../chat/conversation-text.ts'
import { connect } from '../daemon/connect.ts'
import { addListCommand } from '../list/list-command.ts'
import { count, formatAge } from '../terminal/amounts.ts'
import { styleFor } from '../terminal/terminal.ts'

const EXAMPLES = `
Examples:
  reprise conversations
  reprise conversations show cnv_…     all its messages
  reprise conversations move cnv_… ../renamed    after its directory was renamed or moved
  reprise conversations fork cnv_… --at msg_…    branch off after that message
  reprise conversations rm cnv_…
  reprise chat cnv_…                   continue one`

export function define(command: Command, context: CliContext): void {
  const id = ['<id>', 'id of a conversation, like cnv_01J…', idArgument('cnv')] as const
  command
    .description('Lists conversations, newest first; shows, moves or deletes one.')
    .addHelpText('after', EXAMPLES)
  addListCommand(
    command,
    {
      what: 'conversations, newest first',
      read: (client, request) => client.listConversations(request),
      none: 'No conversations yet. Start one with: reprise chat',
      table: conversationRows,
    },
    context,
  )
  command
    .command('show')
    .summary('show one with all its messages')
    .argument(...id)
    .action((conversationId: string) => show(conversationId, context))
  command
    .command('move')
    .summary('move one to another work directory')
    .description(
      'Moves a conversation to another work directory. If the directory was only renamed, its sessions continue. Otherwise ' +
        'the next turn starts a new session with the whole conversation, which must be confirmed with --yes.',
    )
    .argument(...id)
    .argument('<directory>', 'its new work directory')
    .option('--dry-run', 'only show the consequences')
    .option('--yes', 'move it even if its sessions cannot be resumed there')
    .action((conversationId: string, directory: string, options: MoveOptions) =>
      move(conversationId, directory, options, context),
    )
  command
    .command('fork')
    .summary('branch one at its end or at an earlier message')
    .description(
      'Makes a new conversation with the turns up to a message. Its agents continue in forks of their sessions where those can ' +
        'be cut there, and otherwise in a new session with the history.',
    )
    .argument(...id)
    .option(
      '--at <message>',
      'the fork ends with the turn of this message (msg_01J…)',
      wholeIdArgument('msg'),
    )
    .option('--title <title>', 'its title (default: the same)')
    .action((conversationId: string, options: { at?: string; title?: string }) =>
      fork(conversationId, options, context),
    )
  command
    .command('rm')
    .summary('delete one; its runs stay in `reprise runs`')
    .argument(...id)
    .action((conversationId: string) => remove(conversationId, context))
}

interface MoveOptions {
  dryRun?: true
  yes?: true
}

/** The consequences are shown before anything is changed. */
async function move(id: string, directory: string, options: MoveOptions, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const workDir = resolve(context.cwd, directory)
  const plan = await client.planMove(id, workDir)
  const lost = plan.sessions.filter(({ resumes }) => !resumes)
  const { safe } = styleFor(context.stdout, context.env)
  if (options.dryRun) {
    if (context.json) return printJson(context, plan)
    for (const line of moveLines(plan)) await printLine(context, safe(line))
    return
  }
  if (lost.length > 0 && !options.yes) {
    throw usageError(moveLines(plan).join('; '), 'Confirm with --yes.')
  }
  const moved = await client.updateConversation(id, { workDir })
  if (context.json) return printJson(context, moved)
  for (const line of [...moveLines(plan), `moved ${id} to ${workDir}`]) await printLine(context, safe(line))
}

function conversationRows(conversations: readonly Conversation[], now: Date) {
  return {
    headings: ['ID', 'AGENT', 'TURNS', 'CHANGED', 'TITLE'],
    rows: conversations.map((item) => [
      item.id,
      item.agent,
      String(item.turnCount),
      formatAge(item.updatedAt, now),
      titleOf(item),
    ]),
  }
}

async function show(id: string, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const conversation = await client.getConversation(id)
  if (context.json) return printJson(context, conversation)
  const { safe } = styleFor(context.stdout, context.env)
  for (const line of conversationLines(conversation)) await printLine(context, safe(line))
  for (const lines of await layOutMessages(conversation.messages, context)) {
    for (const line of ['', ...lines]) await printLine(context, line)
  }
}

async function fork(
  id: string,
  { at, title }: { at?: string; title?: string },
  context: CliContext,
): Promise<void> {
  const { client } = await connect(context)
  const made = await client.forkConversation(id, { at, title })
  if (context.json) return printJson(context, made)
  await printLine(context, `Forked ${id} after ${count(made.turnCount, 'turn')}: ${made.id}`)
  for (const { agent, session } of made.agents) {
    if (session) notify(context, `${agent} continues in ${session}, a fork of its session`)
  }
  notify(context, `Continue with: reprise chat ${made.id}`)
}

async function remove(id: string, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  await client.deleteConversation(id)
  if (context.json) return printJson(context, { id, removed: true })
  await printLine(context, `deleted ${id}`)
}
