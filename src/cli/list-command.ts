/** What all lists have in common: `list` as the subcommand that runs when none is named, paging, and a table. */
import { type Command, Option } from 'commander'
import type { Client } from '../client/client.ts'
import type { Page } from '../contract/http.ts'
import { type CliContext, notify, printJson, printLine } from './context.ts'
import { connect } from './daemon-connect.ts'
import { wholeNumber } from './run-options.ts'
import { refuseWords } from './subcommand.ts'
import { formatTable } from './table.ts'
import { styleFor, widthOf } from './terminal.ts'

export interface PageRequest {
  limit: number
  cursor?: string
}

export interface Listing<Item, State extends string = never> {
  /** What it lists and in which order: `runs, newest first`. */
  what: string
  /** The states it can be narrowed down to. */
  states?: readonly State[]
  read: (client: Client, request: PageRequest & { state?: State }) => Promise<Page<Item>>
  /** Said when there is nothing. */
  none: string
  table: (items: readonly Item[], now: Date) => { headings: string[]; rows: string[][] }
}

const DEFAULT_LIMIT = 20

export function addListCommand<Item, State extends string = never>(
  command: Command,
  listing: Listing<Item, State>,
  context: CliContext,
): void {
  const list = command.command('list', { isDefault: true }).summary(`list ${listing.what}`)
  if (listing.states) {
    list.addOption(new Option('--state <state>', 'only those in this state').choices(listing.states))
  }
  list
    .option('--limit <n>', `how many (1 to 200, default ${DEFAULT_LIMIT})`, wholeNumber)
    .option('--cursor <cursor>', 'go on where a list ended (its nextCursor)')
    .allowExcessArguments(true)
    .action(async (options: Partial<PageRequest> & { state?: State }, self: Command) => {
      refuseWords(self)
      const { client } = await connect(context)
      const page = await listing.read(client, { limit: DEFAULT_LIMIT, ...options })
      if (context.json) return printJson(context, page)
      if (page.items.length === 0) {
        return notify(context, options.state ? `None in the state ${options.state}.` : listing.none)
      }
      const style = styleFor(context.stdout, context.env)
      const { headings, rows } = listing.table(page.items, new Date())
      const [heading = '', ...lines] = formatTable(headings, rows, widthOf(context.stdout))
      await printLine(context, style.dim(heading))
      for (const line of lines) await printLine(context, style.safe(line))
      if (!page.nextCursor) return
      const narrowed = options.state ? ` --state ${options.state}` : ''
      notify(
        context,
        style.dim(`More: reprise ${command.name()} list${narrowed} --cursor ${page.nextCursor}`),
      )
    })
}
