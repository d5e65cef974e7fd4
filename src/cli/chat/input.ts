/**
 * Reads one message at a time from a terminal (gather.ts joins its lines). Ctrl-C clears the input; on an empty line it
 * shows how to leave, and the second time it leaves.
 *
 * The terminal is in use only while a message is read. During a turn it belongs to what is typed meanwhile (typing.ts) or to
 * a question. The history, and what was typed and not sent, are kept from one to the other.
 */
import { createInterface } from 'node:readline'
import { type CliContext, notify } from '../base/context.ts'
import { styleFor } from '../terminal/terminal.ts'
import { gatherMessages, type InputMemory, noDraft } from './gather.ts'
import { openTyping, type Typing, type TypingHandlers } from './typing.ts'

export interface ChatReader {
  /** Resolves to null when the user leaves. */
  read: (prompt: string) => Promise<string | null>
  /** Takes the terminal for what is typed while a turn runs. */
  readMeanwhile: (handlers: TypingHandlers) => Typing
}

const MORE = '… '
const HINT = '(press Ctrl-C again or Ctrl-D to leave; /help lists the commands)'

export function createChatReader(context: CliContext): ChatReader {
  const memory: InputMemory = { history: [], draft: noDraft() }
  const { dim } = styleFor(context.stderr, context.env)

  const read = (prompt: string) => {
    const { promise, resolve } = Promise.withResolvers<string | null>()
    const { stdin, stderr } = context
    const lines = createInterface({
      input: stdin,
      output: stderr,
      terminal: true,
      prompt: memory.draft.lines.length === 0 ? prompt : MORE,
      history: [...memory.history],
      historySize: 500,
      removeHistoryDuplicates: true,
    })
    const interruptBefore = context.interrupt
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
      gathering.clear()
      lines.setPrompt(prompt)
      lines.prompt()
    }
    const interrupt = () => {
      const isEmpty = lines.line === '' && gathering.lines().length === 0
      if (isEmpty && leaving) return finish(null)
      leaving = isEmpty
      lines.write(null, { ctrl: true, name: 'e' })
      lines.write(null, { ctrl: true, name: 'u' })
      notify(context, isEmpty ? `\n${dim(HINT)}` : '')
      startOver()
    }

    lines.on('line', () => {
      leaving = false
    })
    lines.on('SIGINT', interrupt)
    lines.on('close', () => {
      gathering.stop()
      context.interrupt = interruptBefore
      if (result === null) stderr.write('\n')
      resolve(result)
    })
    context.interrupt = interrupt
    lines.prompt()
    const gathering = gatherMessages(lines, context, memory, { onMore: goOn, onMessage: finish })
    return promise
  }

  return { read, readMeanwhile: (handlers) => openTyping(context, memory, handlers) }
}
