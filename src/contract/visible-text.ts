/**
 * Makes text fully visible, so that a person sees everything that a tool call would do before they answer. Characters
 * that a screen does not show, or shows at another place, are escaped: control characters, marks that change the text
 * direction, characters without width, and spaces that a shell does not treat as spaces.
 */

/**
 * Newline and tab are kept. Hangul fillers, the grapheme joiner and variation selectors are listed because their
 * category is letter or mark.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single characters are what is looked for.
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\u115f\u1160\u3164\uffa0\u034f\u2800\ufe00-\ufe0f]/gu

export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}

/**
 * Describes a tool call completely, with the command first. Continuation lines of a value are marked, so that no value
 * can look like another field.
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
 * Shortens a text for channels with a limit: keeps its beginning and its end, and says in between how much is missing
 * and where the whole text is. The end is kept, because the dangerous part of a long text may be there.
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
