/**
 * Joins the lines that are entered into messages. Lines that end in a backslash, and the lines of a paste, form one
 * message.
 */
import type { Interface } from 'node:readline'
import type { CliContext } from '../base/context.ts'

/** The input that was typed and not sent: whole lines, and the line that is being edited. */
export interface Draft {
  lines: string[]
  line: string
}

/** Kept from one message to the next, whether it is typed at the prompt or while a turn runs. */
export interface InputMemory {
  history: string[]
  draft: Draft
}

export const noDraft = (): Draft => ({ lines: [], line: '' })

export interface Gathering {
  /** The lines of the message so far, without the one that is being edited. */
  lines: () => readonly string[]
  clear: () => void
  stop: () => void
}

const PASTE = { on: '\u001b[?2004h', off: '\u001b[?2004l' }

interface Handlers {
  /** The message is not complete. */
  onMore: () => void
  onMessage: (text: string) => void
}

/** Continues with the draft, which is then empty. */
export function gatherMessages(
  lines: Interface,
  { stdin, stderr, env }: CliContext,
  memory: InputMemory,
  { onMore, onMessage }: Handlers,
): Gathering {
  let gathered = memory.draft.lines
  let pasting = false
  let looking = false
  let stopped = false
  // Terminals that support bracketed paste mark the beginning and end of a paste.
  const marksPastes = env.TERM !== 'dumb'

  /** Called when all input of one read is processed: a paste without marks arrives as several lines at once. */
  const look = () => {
    looking = false
    if (stopped) return
    if (pasting || lines.line !== '') return onMore()
    const text = gathered.join('\n')
    gathered = []
    onMessage(text)
  }
  const onKey = (_: unknown, key: { name?: string } | undefined) => {
    if (key?.name === 'paste-start') pasting = true
    if (key?.name === 'paste-end') pasting = false
  }
  lines.on('line', (line) => {
    const continues = !pasting && line.endsWith('\\')
    gathered.push(continues ? line.slice(0, -1) : line)
    if (pasting || continues) return onMore()
    if (!looking) setImmediate(look)
    looking = true
  })
  lines.on('history', (known: string[]) => {
    memory.history = [...known]
  })
  stdin.on('keypress', onKey)
  if (marksPastes) stderr.write(PASTE.on)
  if (memory.draft.line !== '') lines.write(memory.draft.line)
  memory.draft = noDraft()

  return {
    lines: () => gathered,
    clear: () => {
      gathered = []
    },
    stop: () => {
      stopped = true
      stdin.off('keypress', onKey)
      if (marksPastes) stderr.write(PASTE.off)
    },
  }
}
