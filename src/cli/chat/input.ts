/**
 * Reads one message at a time from a terminal. Lines that end in a backslash, and the lines of a paste, form one
 * message. Ctrl-C clears the input; on an empty line it shows how to leave, and the second time it leaves.
 *
 * The terminal is in use only while a message is read. Between messages, a turn may ask questions on it, and Ctrl-C is
 * an ordinary signal.
 */
import { createInterface } from 'node:readline'
import { type CliContext, notify } from '../base/context.ts'
import { styleFor } from '../terminal/terminal.ts'

export interface ChatReader {
  /** Resolves to null when the user leaves. */
  read: (prompt: string) => Promise<string | null>
}

const MORE = '… '
const PASTE = { on: '\u001b[?2004h', off: '\u001b[?2004l' }
const HINT = '(press Ctrl-C again or Ctrl-D to leave; /help lists the commands)'

export function createChatReader(context: CliContext): ChatReader {
  let history: string[] = []
  const { dim } = styleFor(context.stderr, context.env)
  // Terminals that support bracketed paste mark the beginning and end of a paste.
  const marksPastes = context.env.TERM !== 'dumb'

  const read = (prompt: string) => {
    const { promise, resolve } = Promise.withResolvers<string | null>()
    const { stdin, stderr } = context
    const lines = createInterface({
      input: stdin,
      output: stderr,
      terminal: true,
      prompt,
      history: [...history],
      historySize: 500,
      removeHistoryDuplicates: true,
    })
    const interruptBefore = context.interrupt
    let gathered: string[] = []
    let pasting = false
    let looking = false
    let leaving = false
    let result: string | null = null

    const finish = (text: string | null) => {
      result = text
      lines.close()
    }
    const goOn = () => {
      lines.setPrompt(MORE)
      lines.prompt(true)
    }
    const startOver = () => {
      gathered = []
      lines.setPrompt(prompt)
      lines.prompt()
    }
    /** Called when all input of one read is processed: a paste without marks arrives as several lines at once. */
    const look = () => {
      looking = false
      if (pasting || lines.line !== '') goOn()
      else finish(gathered.join('\n'))
    }
    const interrupt = () => {
      const isEmpty = lines.line === '' && gathered.length === 0
      if (isEmpty && leaving) return finish(null)
      leaving = isEmpty
      lines.write(null, { ctrl: true, name: 'e' })
      lines.write(null, { ctrl: true, name: 'u' })
      notify(context, isEmpty ? `\n${dim(HINT)}` : '')
      startOver()
    }
    const onKey = (_: unknown, key: { name?: string } | undefined) => {
      if (key?.name === 'paste-start') pasting = true
      if (key?.name === 'paste-end') pasting = false
    }

    lines.on('line', (line) => {
      leaving = false
      const continues = !pasting && line.endsWith('\\')
      gathered.push(continues ? line.slice(0, -1) : line)
      if (pasting || continues) return goOn()
      if (!looking) setImmediate(look)
      looking = true
    })
    lines.on('history', (known: string[]) => {
      history = [...known]
    })
    lines.on('SIGINT', interrupt)
    stdin.on('keypress', onKey)
    lines.on('close', () => {
      stdin.off('keypress', onKey)
      context.interrupt = interruptBefore
      if (marksPastes) stderr.write(PASTE.off)
      if (result === null) stderr.write('\n')
      resolve(result)
    })
    context.interrupt = interrupt
    if (marksPastes) stderr.write(PASTE.on)
    lines.prompt()
    return promise
  }

  return { read }
}
