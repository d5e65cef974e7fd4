/**
 * Reads the lines of a file with their positions in bytes, one at a time: each line is a string of its own, so that a long
 * file leaves nothing in memory but short-lived garbage. A last line without a newline is returned only if asked for.
 */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

export interface Line {
  text: string
  /** The position after it and its newline. */
  end: number
}

const NEWLINE = 0x0a

export async function* readPositionedLines(
  path: string,
  { unfinished = false }: { unfinished?: boolean } = {},
): AsyncGenerator<Line> {
  // An agent could put a FIFO in the place of its transcript; opening one must not block.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  let end = 0
  let begun: Buffer[] = []
  for await (const chunk of file.createReadStream({ highWaterMark: 1 << 18 })) {
    const bytes = chunk as Buffer
    let from = 0
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      // The pieces of a long line are joined once, at its end.
      const whole =
        begun.length === 0 ? bytes.subarray(from, at) : Buffer.concat([...begun, bytes.subarray(from, at)])
      end += whole.length + 1
      begun = []
      from = at + 1
      yield { text: whole.toString('utf8'), end }
    }
    if (from < bytes.length) begun.push(bytes.subarray(from))
  }
  const rest = Buffer.concat(begun)
  if (unfinished && rest.length > 0) yield { text: rest.toString('utf8'), end: end + rest.length }
}
