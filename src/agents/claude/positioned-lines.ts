/** Reads the lines of a file with their positions in bytes. A last line without a newline is not returned. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

export interface Line {
  text: string
  /** The position after its newline. */
  end: number
}

const NEWLINE = 0x0a

export async function* readPositionedLines(path: string): AsyncGenerator<Line> {
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
}
