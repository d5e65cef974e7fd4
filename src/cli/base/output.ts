/**
 * The one way in which text reaches stdout and stderr. On a terminal, characters that act on it or that it does not show
 * are replaced, whoever wrote them; only the styles of this program pass. In JSON they are escaped, which does not change
 * the value, because output that is redirected may be shown on a terminal later.
 *
 * The status line and the input line, which move the cursor, write to stderr themselves.
 */
import type { Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'

export interface Screen extends Writable {
  isTTY?: boolean
}

/** The styles of terminal.ts. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence is what it looks for.
const STYLE = /(\u001b\[(?:1|2|3|22|23|31|32|33|36|39)m)/

/** Tab and newline stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/**
 * Characters without width, and those that change the direction of the text. Joiners stay where writing and emoji need
 * them: behind a character outside of ASCII.
 */
const INVISIBLE =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single characters are what is looked for.
  /(?<![\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]|(?<=[A-Za-z])[\u200c\u200d]|(?![\u200c\u200d])[\p{Cf}\p{Zl}\p{Zp}\u034f\u115f\u1160\u3164\uffa0]/gu

/** Makes text harmless for a terminal. Escape sequences are removed. */
export function harmless(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(CONTROL, '\ufffd')
    .replaceAll(INVISIBLE, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}

/** Writes text. Resolves when the reader is ready for more. */
export async function print(stream: Screen, text: string): Promise<void> {
  if (write(stream, text)) return
  await new Promise((resolve) => stream.once('drain', resolve))
}

export function write(stream: Screen, text: string): boolean {
  return stream.write(stream.isTTY ? withOwnStyles(text) : text)
}

/** One line of JSON, with invisible characters escaped. */
export function toJsonLine(value: unknown): string {
  return `${JSON.stringify(value).replaceAll(UNSEEN, escapeUnits)}\n`
}

const UNSEEN = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu

const escapeUnits = (char: string) =>
  Array.from(
    { length: char.length },
    (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')

const withOwnStyles = (text: string) =>
  text
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : harmless(part)))
    .join('')
