/** `reprise conversations`: what was talked about, and with whom. */
import type { Command } from 'commander'
import { formatAge } from './amounts.ts'
import { type CliContext, notify, printJson, printLine } from './context.ts'
import { conversationLines, messageLines, titleOf } from './conversation-text.ts'
import { connect } from './daemon-connect.ts'
import { idArgument } from './id-argument.ts'
import { wholeNumber } from './run-options.ts'
import { refuseWords } from './subcommand.ts'
import { formatTable } from './table.ts'
import { styleFor, widthOf } from './terminal.ts'

const EXAMPLES = `
Examples:
  reprise conversations
  reprise conversations show cnv_…     all that was said
  reprise conversations rm cnv_…
  reprise chat cnv_…                   go on with one`

interface ListOptions {
  limit?: number
  cursor?: string
}

export function define(command: Command, context: CliContext): void {
  const id = ['<id>', 'id of a conversation, like cnv_01J…', idArgument('cnv')] as const
  command
    .description('Lists conversations, newest first, shows one or deletes it.')
    .addHelpText('after', EXAMPLES)
  command
    .command('list', { isDefault: true })
    .summary('list conversations, newest first')
    .option('--limit <n>', 'how many (1 to 200, default 20)', wholeNumber)
    .option('--cursor <cursor>', 'go on where a list ended (its nextCursor)')
    .allowExcessArguments(true)
    .action((options: ListOptions, self: Command) => {
      refuseWords(self)
      return list(options, context)
    })
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

async function list(options: ListOptions, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const page = await client.listConversations({ ...options, limit: options.limit ?? 20 })
  if (context.json) return printJson(context, page)
  if (page.items.length === 0) return notify(context, 'No conversations yet. Start one with: reprise chat')
  const now = new Date()
  const style = styleFor(context.stdout, context.env)
  const headings = ['ID', 'AGENT', 'TURNS', 'CHANGED', 'TITLE']
  const rows = page.items.map((item) => [
    item.id,
    item.agent,
    String(item.turnCount),
    formatAge(item.updatedAt, now),
    titleOf(item),
  ])
  const [heading = '', ...lines] = formatTable(headings, rows, widthOf(context.stdout))
  await printLine(context, style.dim(heading))
  for (const line of lines) await printLine(context, style.safe(line))
  if (page.nextCursor)
    notify(context, style.dim(`More: reprise conversations list --cursor ${page.nextCursor}`))
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
