/**
 * Text of models, tools and users, made safe to look at. React shows text as text; what remains are characters that
 * are not seen or that move others: control sequences of terminals, marks of the text direction, and lines so long that
 * the browser stops.
 */
import { visible } from '../../src/contract/visible-text.ts'

/** Colours and titles of terminals carry no meaning here: they are removed, not shown as escapes. */
const TERMINAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what is looked for.
  /\u001b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[PX^_][^\u001b]*(?:\u001b\\|$)|[@-Z\\-_])/g

/** For output of tools: without terminal sequences, everything else visible. */
export function inert(text: string): string {
  return visible(text.replaceAll(TERMINAL, '').replaceAll('\r\n', '\n'))
}

export const MAX_SHOWN_CHARS = 20_000

export interface Clipped {
  text: string
  /** How many characters are not shown. */
  rest: number
}

export function clip(text: string, maxChars = MAX_SHOWN_CHARS): Clipped {
  if (text.length <= maxChars) return { text, rest: 0 }
  return { text: text.slice(0, maxChars).toWellFormed(), rest: text.length - maxChars }
}

/** For one line: the middle is left out, because paths and ids differ at their ends. */
export function shorten(text: string, maxChars: number): string {
  const line = inert(text).replaceAll(/\s+/g, ' ').trim()
  if (line.length <= maxChars) return line
  const head = Math.ceil((maxChars - 1) * 0.6)
  return `${line.slice(0, head)}…${line.slice(line.length - (maxChars - 1 - head))}`.toWellFormed()
}

/** `ses_01J…` → its last characters: ids begin with the time, so their ends differ most. */
export const shortId = (id: string) =>
  /^[a-z]{3}_/.test(id) ? `${id.slice(0, 4)}…${id.slice(-6)}` : id.slice(0, 8)

/** One word for a shell, whatever it contains. */
export const quoteForShell = (text: string) =>
  /^[\w./~@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

export const fileName = (path: string) => path.split('/').filter(Boolean).at(-1) ?? path

/** The contents of a tool result: a text, a list of blocks, or any JSON. */
export function resultText(content: unknown): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) {
    return content
      .map((block) => {
        if (typeof block === 'object' && block !== null && 'text' in block) return String(block.text)
        if (typeof block === 'object' && block !== null && 'type' in block) return `[${String(block.type)}]`
        return JSON.stringify(block)
      })
      .join('\n')
  }
  return content === undefined || content === null ? '' : JSON.stringify(content, null, 2)
}
