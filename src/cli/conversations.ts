/** `reprise conversations`: what was talked about, and with whom. */
import type { Command } from 'commander'
import type { Conversation } from '../contract/conversation.ts'
import { formatAge } from './amounts.ts'
import { type CliContext, printJson, printLine } from './context.ts'
import { conversationLines, messageLines, titleOf } from './conversation-text.ts'
import { connect } from './daemon-connect.ts'
import { idArgument } from './id-argument.ts'
import { addListCommand } from './list-command.ts'
import { styleFor } from './terminal.ts'

const EXAMPLES = `
Examples:
  reprise conversations
  reprise conversations show cnv_…     all that was said
  reprise conversations rm cnv_…
  reprise chat cnv_…                   go on with one`

export function define(command: Command, context: CliContext): void {
  const id = ['<id>', 'id of a conversation, like cnv_01J…', idArgument('cnv')] as const
  command
    .description('Lists conversations, newest first, shows one or deletes it.')
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
    .command('rm')
    .summary('delete one; what ran for it stays in `reprise runs`')
    .argument(...id)
    .action((conversationId: string) => remove(conversationId, context))
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
  const messages = conversation.messages.flatMap((message) => ['', ...messageLines(message)])
  for (const line of [...conversationLines(conversation), ...messages]) await printLine(context, safe(line))
}

async function remove(id: string, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  await client.deleteConversation(id)
  if (context.json) return printJson(context, { id, removed: true })
  await printLine(context, `${id} is deleted`)
}
