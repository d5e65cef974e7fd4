/** Loads the parser of Markdown, which is needed on a terminal only, when there is something to show. */
import type { CliContext } from '../base/context.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'
import type { MarkdownPrinter } from './printer.ts'

type Output = Pick<CliContext, 'stdout' | 'env'>

/** `indent`: columns that are left free. */
export async function loadPrinter({ stdout, env }: Output, indent = 0): Promise<MarkdownPrinter> {
  const { createMarkdownPrinter } = await import('./printer.ts')
  return createMarkdownPrinter({ style: styleFor(stdout, env), width: () => widthOf(stdout) - indent })
}

/** Returns a function that gives the lines of a whole text: laid out on a terminal, unchanged elsewhere. */
export async function loadLayout(context: Output, indent: number): Promise<(text: string) => string[]> {
  if (!context.stdout.isTTY) return (text) => text.split('\n')
  const printer = await loadPrinter(context, indent)
  return (text) => `${printer.add(text)}${printer.end()}`.replace(/\n$/, '').split('\n')
}
