/** Shows all of what somebody is about to allow, on a terminal by page. Whoever does not want to see the end has allowed nothing. */
import { createInterface } from 'node:readline/promises'
import { type CliContext, notify } from '../base/context.ts'
import { usageError } from '../base/usage-error.ts'
import { pagesOf, showPages } from './pages.ts'
import { styleFor } from './terminal.ts'

/** `hint`: how to refuse it. */
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
  throw usageError('nothing was answered', hint)
}
