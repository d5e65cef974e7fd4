/** Splits a stream of bytes into lines, and puts changed lines together again. Long lines are joined once. */

const NEWLINE = 0x0a

/** The lines without their newlines. `maxChars` limits the length of one. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<{ line: Buffer; complete: boolean }> {
  let begun: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let from = 0
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      begun.push(bytes.subarray(from, at))
      yield { line: begun.length === 1 ? (begun[0] as Buffer) : Buffer.concat(begun), complete: true }
      begun = []
      length = 0
      from = at + 1
    }
    if (from === bytes.length) continue
    begun.push(bytes.subarray(from))
    length += bytes.length - from
    if (length > maxBytes) throw new LineTooLong()
  }
  if (length > 0) yield { line: Buffer.concat(begun), complete: false }
}

export class LineTooLong extends Error {}

/** Changes each line of a text file. */
export async function* mapLines(
  chunks: AsyncIterable<Uint8Array>,
  change: (line: string) => string,
): AsyncGenerator<Buffer> {
  for await (const { line, complete } of splitLines(chunks)) {
    const changed = Buffer.from(change(line.toString('utf8')))
    yield complete ? Buffer.concat([changed, Buffer.of(NEWLINE)]) : changed
  }
}
