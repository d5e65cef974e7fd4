/**
 * A person watches something that goes on without them: Ctrl-C leaves it alone, Ctrl-X cancels it. Off a terminal there
 * is no second key, and an interrupt leaves.
 */
import { RepriseError } from '../../contract/errors.ts'
import { type CliContext, notify } from '../base/context.ts'
import { isInteractive } from '../terminal/dialogue.ts'
import { type Keys, listenForKeys, NO_KEYS } from '../terminal/keys.ts'
import { styleFor } from '../terminal/terminal.ts'

export interface Attachment {
  keys: Keys
  /** Aborted when the person leaves. */
  left: AbortSignal
  /** Lines of Reprise go there while a run is shown; returns to stderr with null. */
  showIn: (note: ((line: string) => void) | null) => void
  close: () => void
}

export interface Attached {
  /** A word for what is followed, such as `job`. */
  noun: string
  cancel: () => Promise<unknown>
}

export function attach({ noun, cancel }: Attached, context: CliContext): Attachment {
  const style = styleFor(context.stderr, context.env)
  const aside = (line: string) => notify(context, style.dim(style.safe(line)))
  const leaving = new AbortController()
  const before = context.interrupt
  let note: ((line: string) => void) | null = null
  const say = (line: string) => (note ?? aside)(line)
  let cancelling = false
  const cancelIt = () => {
    if (cancelling) return
    cancelling = true
    say(`cancelling the ${noun} …`)
    cancel().catch((error: unknown) => {
      cancelling = false
      // It has just ended.
      if (error instanceof RepriseError && error.code === 'run-settled') return
      say(`could not cancel: ${error instanceof Error ? error.message : error}`)
    })
  }
  context.interrupt = () => leaving.abort()
  const interactive = isInteractive(context)
  const keys = interactive
    ? listenForKeys(context, (name) => {
        if (name === 'c') context.interrupt()
        if (name === 'x') cancelIt()
      })
    : NO_KEYS
  if (interactive) aside(`Ctrl-C leaves, and the ${noun} continues; Ctrl-X cancels it`)
  return {
    keys,
    left: leaving.signal,
    showIn: (sink) => {
      note = sink
    },
    close: () => {
      keys.close()
      context.interrupt = before
    },
  }
}
