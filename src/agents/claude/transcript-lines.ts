/** The lines of a transcript, in pieces, so that a large file is never in memory as a whole. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { isRecord, type Json } from './wire.ts'

const CHUNK = 1 << 18

/** Yields complete lines. The last piece is the text after the last newline, alone; it may be empty. */
export async function* readLines(path: string): AsyncGenerator<string[]> {
  // An agent could put a FIFO in the place of its transcript; opening one must not block.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  let rest = ''
  for await (const chunk of file.createReadStream({ encoding: 'utf8', highWaterMark: CHUNK })) {
    const lines = (chunk as string).split('\n')
    // The pieces of a long line are joined once, at its end.
    lines[0] = rest + lines[0]
    rest = lines.pop() ?? ''
    yield lines
  }
  yield [rest]
}

/** null: the line is not a JSON object. */
export function parseRecord(line: string): Json | null {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}
