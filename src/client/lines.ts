/** The lines of a byte stream, split at 0x0A only. Ends without the last line if the stream breaks off inside it. */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<string, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // Joined when the line is complete: a line of megabytes comes in hundreds of pieces.
  let pieces: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      const parts = decoder.decode(value, { stream: true }).split('\n')
      const rest = parts.pop() ?? ''
      for (const part of parts) {
        pieces.push(part)
        yield pieces.join('')
        pieces = []
      }
      if (rest !== '') pieces.push(rest)
    }
  } finally {
    // If the reader leaves early, the server should stop sending.
    reader.cancel().catch(() => {})
  }
}
