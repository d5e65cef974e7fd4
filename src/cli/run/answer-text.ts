/**
 * The agent's text on its way to stdout: laid out as Markdown on a terminal, unchanged elsewhere.
 *
 * Words are shown shortly after they came, as far as their style is certain. After a pause, the rest is shown as it is, so
 * that nothing seems to hang.
 */
import type { CliContext } from '../base/context.ts'
import { loadPrinter } from '../markdown/load.ts'
import type { MarkdownPrinter } from '../markdown/printer.ts'

export interface AnswerText {
  add: (text: string) => Promise<void>
  /** Shows everything before other output. With `breakLine`, that follows on the same screen. */
  giveWay: (breakLine: boolean) => void
  end: () => Promise<void>
}

const WORDS_AFTER_MS = 100
const PAUSE_MS = 1000

export function createAnswerText(context: CliContext, say: (text: string) => Promise<void>): AnswerText {
  if (!context.stdout.isTTY) return { add: say, giveWay: () => {}, end: async () => {} }
  let printer: MarkdownPrinter | null = null
  let words: NodeJS.Timeout | undefined
  let pause: NodeJS.Timeout | undefined

  const stopTimers = () => {
    clearTimeout(words)
    clearTimeout(pause)
    words = undefined
  }
  const startTimers = (shown: MarkdownPrinter) => {
    clearTimeout(pause)
    if (!shown.hasPending()) return
    pause = setTimeout(() => void say(shown.showAll(false)), PAUSE_MS).unref()
    words ??= setTimeout(() => {
      words = undefined
      void say(shown.showWords())
    }, WORDS_AFTER_MS).unref()
  }

  return {
    add: async (text) => {
      printer ??= await loadPrinter(context)
      const printed = say(printer.add(text))
      startTimers(printer)
      await printed
    },
    giveWay: (breakLine) => {
      stopTimers()
      if (printer) void say(printer.showAll(breakLine))
    },
    end: async () => {
      stopTimers()
      if (printer) await say(printer.end())
    },
  }
}
