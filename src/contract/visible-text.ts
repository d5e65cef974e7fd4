/**
 * Text of which a person must see everything before they answer: what a tool call would do. Whatever a screen does not
 * show, or shows elsewhere than where it stands, is written as an escape: control characters, marks that turn the
 * direction of text, characters without width, spaces that are none to a shell.
 */

/** Newline and tab stay; Hangul fillers, the grapheme joiner and variation selectors are letters and marks by category. */
const HIDDEN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single characters are what is looked for.
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\u115f\u1160\u3164\uffa0\u034f\u2800\ufe00-\ufe0f]/gu

export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}

/**
 * All that a tool call would do, most telling field first; nothing is left out. A line that goes on with a value is marked,
 * so that no value can look like another field.
 */
export function describeCall(tool: string, input: unknown): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return `${visible(tool)} ${input === undefined ? '' : visible(JSON.stringify(input))}`.trim()
  const { command, ...others } = input as Record<string, unknown>
  const fields = Object.entries(command === undefined ? others : { command, ...others }).map(([key, value]) =>
    `${visible(key)}: ${visible(typeof value === 'string' ? value : JSON.stringify(value))}`.replaceAll(
      '\n',
      '\n  | ',
    ),
  )
  return [visible(tool), ...fields].join('\n  ')
}

/**
 * For channels that take only so much: its beginning and its end, and in between how much is missing and where all of it
 * is to be read. The end is never hidden, because that is where a long text is dangerous.
 */
export function cutMiddle(text: string, maxChars: number, whereAll: string): string {
  if (text.length <= maxChars) return text
  const mark = (left: number) =>
    `\n[${left} of ${text.length} characters are not shown here. Read all of it before you answer: ${whereAll}]\n`
  const room = Math.max(0, maxChars - mark(text.length).length)
  const [head, tail] = [Math.ceil(room / 2), Math.floor(room / 2)]
  const start = text.slice(0, head).toWellFormed()
  const end = tail === 0 ? '' : text.slice(-tail).toWellFormed()
  return `${start}${mark(text.length - head - tail)}${end}`
}
