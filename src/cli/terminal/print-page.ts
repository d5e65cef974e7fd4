/** Prints a page of a list: as JSON, or as a table with the command for the next page. */
import type { Page } from '../../contract/http.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { formatTable } from './table.ts'
import { styleFor, widthOf } from './terminal.ts'

export interface Table {
  headings: string[]
  rows: string[][]
}

export interface PageText<Item> {
  /** Printed when the list is empty. */
  none: string
  table: (items: readonly Item[], now: Date) => Table
  /** The command for the next page, without --cursor. */
  more?: string
}

export async function printPage<Item>(
  context: CliContext,
  page: Page<Item>,
  { none, table, more }: PageText<Item>,
): Promise<void> {
  if (context.json) return printJson(context, page)
  if (page.items.length === 0) return notify(context, none)
  await printTable(context, table(page.items, new Date()))
  const { dim } = styleFor(context.stdout, context.env)
  if (page.nextCursor && more) notify(context, dim(`More: ${more} --cursor ${page.nextCursor}`))
}

export async function printTable(context: CliContext, { headings, rows }: Table): Promise<void> {
  const style = styleFor(context.stdout, context.env)
  const [heading = '', ...lines] = formatTable(headings, rows, widthOf(context.stdout))
  await printLine(context, style.dim(heading))
  for (const line of lines) await printLine(context, style.safe(line))
}
