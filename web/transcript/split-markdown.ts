/** Splits Markdown where a new block begins: at empty lines that are not inside a block of code. */
const FENCE = /^ {0,3}(```+|~~~+)/
const MIN_PART_CHARS = 2000

/** The parts together are the text. All but the last stay the same when the text grows. */
export function splitMarkdown(text: string): string[] {
  const parts: string[] = []
  let part = ''
  let fence: string | null = null
  for (const line of text.split(/(?<=\n)/)) {
    const [, mark] = FENCE.exec(line) ?? []
    if (mark !== undefined) {
      if (fence === null) fence = mark
      else if (mark.startsWith(fence)) fence = null
    }
    part += line
    if (fence !== null || line.trim() !== '' || part.length < MIN_PART_CHARS) continue
    parts.push(part)
    part = ''
  }
  return part === '' ? parts : [...parts, part]
}
