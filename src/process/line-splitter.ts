/**
 * Splits bytes into lines, at 0x0A only: agents print U+2028 inside JSON, where `readline` would split. Holds at most
 * one unfinished line of at most `maxLine` bytes. The bytes of a longer line are discarded as they come; when it ends,
 * it is reported as a gap with its position, so that it can be found in the spool.
 */
export type Piece = { from: number; end: number } & ({ kind: 'line'; text: string } | { kind: 'gap' })

const NEWLINE = 0x0a
const RETURN = 0x0d
const NOTHING = Buffer.alloc(0)

export class LineSplitter {
  readonly #maxLine: number
  #start: number
  #held: Buffer[] = []
  #heldBytes = 0

  constructor(maxLine: number, offset = 0) {
    this.#maxLine = maxLine
    this.#start = offset
  }

  /** `end` of a piece is the position after its newline, from where reading can continue. */
  push(chunk: Buffer): Piece[] {
    const pieces: Piece[] = []
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const piece = this.#finish(chunk, from, at, 1)
      if (piece.kind === 'gap' || piece.text !== '') pieces.push(piece)
      from = at + 1
    }
    this.#hold(chunk, from, chunk.length)
    return pieces
  }

  /** Where the unfinished line begins. Everything before it has been returned. */
  get position(): number {
    return this.#start
  }

  /** Returns what came after the last newline. Call it only when no more bytes will come. */
  flush(): Piece[] {
    return this.#heldBytes === 0 ? [] : [this.#finish(NOTHING, 0, 0, 0)]
  }

  #hold(chunk: Buffer, from: number, to: number): void {
    if (from === to) return
    this.#heldBytes += to - from
    if (this.#heldBytes > this.#maxLine) this.#held = []
    else this.#held.push(chunk.subarray(from, to))
  }

  /**
   * Finishes the line that ends with these bytes. Nearly always the whole line is in the chunk and is decoded without
   * copying.
   */
  #finish(chunk: Buffer, from: number, to: number, newlineBytes: number): Piece {
    const whole = this.#heldBytes === 0
    if (!whole) this.#hold(chunk, from, to)
    const bytes = whole ? to - from : this.#heldBytes
    const start = this.#start
    const end = start + bytes + newlineBytes
    const piece: Piece =
      bytes > this.#maxLine
        ? { kind: 'gap', from: start, end }
        : { kind: 'line', text: whole ? textOf(chunk, from, to) : this.#heldText(), from: start, end }
    this.#start = end
    this.#held = []
    this.#heldBytes = 0
    return piece
  }

  #heldText(): string {
    const bytes = Buffer.concat(this.#held)
    return textOf(bytes, 0, bytes.length)
  }
}

function textOf(bytes: Buffer, from: number, to: number): string {
  const end = to > from && bytes[to - 1] === RETURN ? to - 1 : to
  return bytes.toString('utf8', from, end)
}
