/** The `list` subcommand that all lists share: it is the default subcommand, has paging and filters, and prints a table. */
import { type Command, Option } from 'commander'
import type { Client } from '../../client/client.ts'
import type { Page } from '../../contract/http.ts'
import { between } from '../base/arguments.ts'
import { type CliContext, notify } from '../base/context.ts'
import { refuseWords } from '../base/subcommand.ts'
import { connect } from '../daemon/connect.ts'
import { type PageText, printPage } from '../terminal/print-page.ts'
import { styleFor } from '../terminal/terminal.ts'

export interface PageRequest {
  limit: number
  cursor?: string
}

export interface Listing<Item, State extends string = never, Filters extends object = object>
  extends Omit<PageText<Item>, 'more'> {
  /** Its items and their order, such as `runs, newest first`. */
  what: string
  /** States to filter by. */
  states?: readonly State[]
  /** Further filters. */
  filters?: readonly Option[]
  /** A sentence under the table. */
  note?: (client: Client, items: readonly Item[]) => Promise<string | null>
  read: (client: Client, request: PageRequest & { state?: State } & Filters) => Promise<Page<Item>>
}

const DEFAULT_LIMIT = 20

export function addListCommand<Item, State extends string = never, Filters extends object = object>(
  command: Command,
  listing: Listing<Item, State, Filters>,
  context: CliContext,
): void {
  const list = command.command('list', { isDefault: true }).summary(`list ${listing.what}`)
  const { states, filters = [] } = listing
  const narrowing = [
    ...(states ? [new Option('--state <state>', 'only items in this state').choices(states)] : []),
    ...filters,
  ]
  for (const option of narrowing) list.addOption(option)
  addPageOptions(list)
    .allowExcessArguments(true)
    .action(async (options: Partial<PageRequest> & { state?: State } & Filters, self: Command) => {
      refuseWords(self)
      const { client } = await connect(context)
      const page = await listing.read(client, { limit: DEFAULT_LIMIT, ...options })
      const given = narrowing.flatMap((option) => {
        const value = (options as Record<string, unknown>)[option.attributeName()]
        return value === undefined ? [] : [`${option.long} ${value}`]
      })
      const none = options.state
        ? `No ${listing.what.split(',')[0]} in state ${options.state}.`
        : listing.none
      await printPage(context, page, {
        none: given.length > (options.state ? 1 : 0) ? 'Nothing matches.' : none,
        table: listing.table,
        more: [`reprise ${command.name()} list`, ...given].join(' '),
      })
      if (context.json || page.items.length === 0) return
      const note = (await listing.note?.(client, page.items)) ?? null
      if (note !== null) notify(context, styleFor(context.stderr, context.env).dim(note))
    })
}

export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <n>', `number of items (1 to 200, default ${DEFAULT_LIMIT})`, between(1, 200))
    .option('--cursor <cursor>', 'start where a list ended (its nextCursor)')
}

export function pageRequest(options: Partial<PageRequest>): PageRequest {
  return { limit: DEFAULT_LIMIT, ...options }
}
