/**
 * A status line below all other output on a terminal, redrawn in place. If the output above ends in the middle of a
 * line, the status line is drawn on the next row and the cursor returns to the end of the output. While the column of
 * the cursor is not certain, no status line is drawn. While a person types, it shows what is typed, also without colours.
 *
 * Drawing is delayed a little, so that streamed text does not make it flicker, and repeated every second.
 */
import type { CliContext } from '../base/context.ts'
import { fitColumns, fitInput, lengthAfter } from './columns.ts'
import { styleFor, widthOf } from './terminal.ts'

/** The line that is being typed, before and after the cursor. */
export interface Typed {
  before: string
  after: string
}

export interface StatusLine {
  /** Must be called before text is written. `isAside`: the text is a line of its own. */
  makeWay: (text: string, isAside: boolean) => void
  /** Must be called after text was written. */
  wrote: (text: string, isAside: boolean) => void
  /** Draws the line again soon. */
  refresh: () => void
  /** Shows the line that a person types instead; null: nothing is typed. */
  showTyped: (typed: Typed | null) => void
  /** Removes the line while something else uses the screen. */
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
  showTyped: () => {},
  hold: () => {},
  release: () => {},
  close: () => {},
}

export function createStatusLine(context: CliContext, read: () => string): StatusLine {
  const { stdout, stderr, env, json } = context
  if (!stderr.isTTY || json || env.TERM === 'dumb') return NONE
  const style = styleFor(stderr, env)
  // Output that is redirected does not move the cursor.
  const sameScreen = stdout.isTTY === true
  /** Length of the text in the line of the cursor; null if it is not certain. */
  let length: number | null = 0
  let width = widthOf(stderr)
  let drawn: string | null = null
  let typed: Typed | null = null
  let held = 0
  let pending: NodeJS.Timeout | null = null
  const repeated = setInterval(() => draw(), REDRAW_MS)
  repeated.unref()

  const clear = () => {
    if (drawn !== null) stderr.write(`${length === 0 ? '\r' : ''}${ERASE_BELOW}`)
    drawn = null
  }
  /** A terminal whose width changed has wrapped the lines again. */
  const measure = () => {
    const now = widthOf(stderr)
    if (now === width) return
    width = now
    if (length === 0) return clear()
    length = null
    drawn = null
  }
  /** At the right edge, terminals differ about where the cursor is. */
  const isSure = () => length !== null && (length === 0 || length % width !== 0) && width >= NARROWEST
  const compose = () => {
    if (typed) return fitInput(`› ${shown(typed.before)}`, shown(typed.after), width - 1)
    return env.NO_COLOR ? null : style.dim(fitColumns(style.safe(read()), width - 1))
  }
  const shown = (text: string) => style.safe(text.replaceAll(/\s/g, ' '))
  const draw = () => {
    measure()
    if (held > 0 || length === null || !isSure()) return
    const line = compose()
    if (line === null) return clear()
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
    showTyped: (text) => {
      if (text === null && typed === null) return
      typed = text
      draw()
    },
    hold: () => {
      held++
      clear()
    },
    release: () => {
      held--
      // Whatever used the screen has left the cursor at the start of a line.
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
