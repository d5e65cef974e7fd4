/**
 * A line beneath everything else on a terminal, redrawn in place. What is written above it may end in the middle of a
 * line: the status line is then on the next one, and the cursor goes back to where the text ends. Where that is must
 * be known for sure; as long as it is not, there is no status line.
 *
 * Drawing is put off a little, so that a stream of text does not make it flicker, and repeated every second.
 */

import type { CliContext } from '../base/context.ts'
import { fitColumns, lengthAfter } from './columns.ts'
import { styleFor, widthOf } from './terminal.ts'

export interface StatusLine {
  /** Before text goes to the screen. `isAside`: it is a line of its own. */
  makeWay: (text: string, isAside: boolean) => void
  /** After it. */
  wrote: (text: string, isAside: boolean) => void
  /** Something changed. */
  refresh: () => void
  /** Takes it away while something else needs the screen. */
  hold: () => void
  release: () => void
  close: () => void
}

const DRAW_AFTER_MS = 100
const REDRAW_MS = 1000
const NARROWEST = 20
const ERASE_BELOW = '\u001b[J'
const ERASE_RIGHT = '\u001b[K'

const NONE: StatusLine = {
  makeWay: () => {},
  wrote: () => {},
  refresh: () => {},
  hold: () => {},
  release: () => {},
  close: () => {},
}

export function createStatusLine(context: CliContext, read: () => string): StatusLine {
  const { stdout, stderr, env, json } = context
  if (!stderr.isTTY || json || env.NO_COLOR || env.TERM === 'dumb') return NONE
  const style = styleFor(stderr, env)
  // What goes elsewhere does not move the cursor here.
  const sameScreen = stdout.isTTY === true
  /** Of the line that the cursor is in, as far as it is text; null if that is not sure. */
  let length: number | null = 0
  let width = widthOf(stderr)
  let drawn: string | null = null
  let held = 0
  let pending: NodeJS.Timeout | null = null
  const repeated = setInterval(() => draw(), REDRAW_MS)
  repeated.unref()

  const clear = () => {
    if (drawn !== null) stderr.write(`${length === 0 ? '\r' : ''}${ERASE_BELOW}`)
    drawn = null
  }
  /** A terminal of another width has broken the lines anew. */
  const measure = () => {
    const now = widthOf(stderr)
    if (now === width) return
    width = now
    if (length === 0) return clear()
    length = null
    drawn = null
  }
  /** At the right edge terminals differ in where the cursor is. */
  const isSure = () => length !== null && (length === 0 || length % width !== 0) && width >= NARROWEST
  const draw = () => {
    measure()
    if (held > 0 || length === null || !isSure()) return
    const line = style.dim(fitColumns(style.safe(read()), width - 1))
    if (line === drawn) return
    const column = length % width
    stderr.write(
      length === 0 ? `\r${line}${ERASE_RIGHT}\r` : `\r\n${line}${ERASE_RIGHT}\r\u001b[A\u001b[${column}C`,
    )
    drawn = line
  }
  const refresh = () => {
    if (held > 0 || pending) return
    pending = setTimeout(() => {
      pending = null
      draw()
    }, DRAW_AFTER_MS)
    pending.unref()
  }

  return {
    makeWay: (text, isAside) => {
      if (drawn === null || !(sameScreen || isAside)) return
      measure()
      const after = lengthAfter(length, text)
      const staysAbove =
        !isAside &&
        length !== null &&
        length > 0 &&
        after !== null &&
        !text.includes('\n') &&
        Math.ceil(after / width) === Math.ceil(length / width)
      if (!staysAbove) clear()
    },
    wrote: (text, isAside) => {
      if (isAside) length = 0
      else if (sameScreen) length = lengthAfter(length, text)
      refresh()
    },
    refresh,
    hold: () => {
      held++
      clear()
    },
    release: () => {
      held--
      // Whoever had the screen left it at the start of a line.
      length = 0
      refresh()
    },
    close: () => {
      clearInterval(repeated)
      if (pending) clearTimeout(pending)
      held++
      clear()
    },
  }
}
