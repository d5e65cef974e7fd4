/** Splits a long text into pages that fit the terminal, and shows them one at a time. */
import type { TerminalOut } from '../base/context.ts'
import { wrapColumns } from './columns.ts'

const ROWS_WITHOUT_TERMINAL = 24
const COLUMNS_WITHOUT_TERMINAL = 80
/** Rows that are left for the prompt and the line above it. */
const KEPT_ROWS = 3

/** Splits a text into pages that fit on the screen. Lines are wrapped first, so that nothing scrolls out of sight. */
export function pagesOf(text: string, { rows, columns }: Pick<TerminalOut, 'rows' | 'columns'>): string[] {
  const width = Math.max(20, columns || COLUMNS_WITHOUT_TERMINAL)
  const height = Math.max(5, (rows || ROWS_WITHOUT_TERMINAL) - KEPT_ROWS)
  const lines = text.split('\n').flatMap((line) => wrapColumns(line.replaceAll('\t', '    '), width))
  const pages: string[] = []
  for (let from = 0; from < lines.length; from += height)
    pages.push(lines.slice(from, from + height).join('\n'))
  return pages
}

/** Shows all pages, one at a time. Returns false if the reader does not want to see the rest. */
export async function showPages(
  pages: readonly string[],
  show: (text: string) => void,
  ask: (prompt: string) => Promise<string>,
): Promise<boolean> {
  for (const [index, page] of pages.entries()) {
    show(page)
    if (index === pages.length - 1) return true
    const reply = await ask(
      `page ${index + 1} of ${pages.length}; Enter shows the next one, n denies without reading on: `,
    )
    if (/^(n|no)$/i.test(reply.trim())) return false
  }
  return true
}
