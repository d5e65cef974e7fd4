/** Shows the whole text of what a person is about to allow, in pages on a terminal. Nothing is allowed unless its end was shown. */
import { createInterface } from 'node:readline/promises'
import { type CliContext, notify } from '../base/context.ts'
import { usageError } from '../base/usage-error.ts'
import { pagesOf, showPages } from './pages.ts'
import { styleFor } from './terminal.ts'

/** `hint` tells how to refuse it. Throws if the reader stops before the end. */
export async function showWhole(text: string, hint: string, context: CliContext): Promise<void> {
  const { stdin, stderr } = context
  const safe = styleFor(stderr, context.env).safe(text)
  const pages = stdin.isTTY && stderr.isTTY ? pagesOf(safe, stderr) : [safe]
  const lines = createInterface({ input: stdin, output: stderr as NodeJS.WritableStream })
  try {
    const show = (page: string) => notify(context, page)
    if (await showPages(pages, show, (prompt) => lines.question(prompt))) return
  } finally {
    lines.close()
  }
  throw usageError('nothing was answered: the text was not shown to its end', hint)
}
