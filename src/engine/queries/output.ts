/** The output of one attempt as messages of the vendor's SDK, read from its spool at the caller's pace. */
import type { AgentAdapter, OutputMessage } from '../../agents/adapter.ts'
import { LineSplitter } from '../../process/line-splitter.ts'
import type { Output } from '../base/processes.ts'

/** A longer line is left out. A message with a large file or picture in it is a few megabytes long. */
const MAX_LINE_BYTES = 256 << 20

export class QueryOutput {
  readonly #output: Output
  readonly #readMessage: NonNullable<AgentAdapter['readMessage']>
  readonly #lines: LineSplitter

  constructor(output: Output, readMessage: NonNullable<AgentAdapter['readMessage']>, from: number) {
    this.#output = output
    this.#readMessage = readMessage
    this.#lines = new LineSplitter(MAX_LINE_BYTES, from)
  }

  /** The next messages; null if there is nothing more to read now. */
  async read(): Promise<OutputMessage[] | null> {
    const bytes = await this.#output.read()
    if (bytes === null) return null
    return this.#lines.push(bytes).flatMap((piece) => {
      const message = piece.kind === 'line' ? this.#readMessage(piece.text) : null
      return message ? [message] : []
    })
  }

  /** Resolves when there may be more to read, or after `nudge`. */
  wait(): Promise<void> {
    return this.#output.wait(Number.POSITIVE_INFINITY)
  }

  nudge(): void {
    this.#output.nudge()
  }

  close(): Promise<void> {
    return this.#output.close()
  }
}
