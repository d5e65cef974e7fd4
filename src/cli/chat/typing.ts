/**
 * Reads the keys that a person types while a turn runs. Readline edits the line without showing it; the view shows it in its status line,
 * so that it and the output do not overwrite each other.
 *
 * open ⇄ given (a question owns the terminal, and the draft waits) → closed (what was not sent is the draft of the prompt).
 */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { CliContext } from '../base/context.ts'
import type { Keys } from '../terminal/keys.ts'
import type { Typed } from '../terminal/status-line.ts'
import { gatherMessages, type InputMemory } from './gather.ts'

export interface TypingHandlers {
  onMessage: (text: string) => void
  /** Called whenever the text changes; null: nothing is typed. */
  onTyped: (typed: Typed | null) => void
  /** Ctrl-D. */
  onLeave: () => void
}

export interface Typing extends Keys {
  /** The line that is being typed. */
  typed: () => Typed | null
}

export function openTyping(
  context: CliContext,
  memory: InputMemory,
  { onMessage, onTyped, onLeave }: TypingHandlers,
): Typing {
  let given = 0
  let closed = false
  let editor = edit()

  function edit() {
    const lines = createInterface({
      input: context.stdin,
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      terminal: true,
      prompt: '',
      history: [...memory.history],
      historySize: 500,
      removeHistoryDuplicates: true,
    })
    let isOver = false
    const typed = (): Typed | null => {
      const { line, cursor } = lines
      const above = gathering.lines().map((text) => `${text} ↵ `)
      if (line === '' && above.length === 0) return null
      return { before: above.join('') + line.slice(0, cursor), after: line.slice(cursor) }
    }
    const show = () => onTyped(typed())
    const gathering = gatherMessages(lines, context, memory, {
      onMore: show,
      onMessage: (text) => {
        show()
        onMessage(text)
      },
    })
    // Readline has handled the key before, because it listens since earlier.
    context.stdin.on('keypress', show)
    lines.on('SIGINT', () => context.interrupt())
    const stop = () => {
      if (isOver) return
      isOver = true
      context.stdin.off('keypress', show)
      gathering.stop()
      memory.draft = { lines: [...gathering.lines()], line: lines.line }
      onTyped(null)
      lines.close()
    }
    lines.on('close', () => {
      if (isOver) return
      stop()
      closed = true
      onLeave()
    })
    show()
    return { typed, stop }
  }

  return {
    typed: () => (closed || given > 0 ? null : editor.typed()),
    giveWay: () => {
      given++
      if (given === 1 && !closed) editor.stop()
      return () => {
        given--
        if (given === 0 && !closed) editor = edit()
      }
    },
    close: () => {
      if (!closed && given === 0) editor.stop()
      closed = true
    },
  }
}
