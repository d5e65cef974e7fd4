/**
 * Bytes into lines, split on 0x0A and nothing else: agents print U+2028 inside JSON, and `readline` would split there.
 * Holds at most one unfinished line of at most `maxLine` bytes. The bytes of a longer line are let go as they come,
 * and when it ends it is reported as a gap, by position, so that they can be found in the spool.
 */
export type Piece = { kind: 'line'; text: string; end: number } | { kind: 'gap'; from: number; end: number }

const NEWLINE = 0x0a
const RETURN = 0x0d

export class LineSplitter {
  readonly #maxLine: number
  /** Where the unfinished line began. */
  #start: number
  #held: Buffer[] = []
  #heldBytes = 0

  constructor(maxLine: number, offset = 0) {
    this.#maxLine = maxLine
    this.#start = offset
  }

  /** `end` of a piece is the position after its newline: from there reading can go on. */
  push(chunk: Buffer): Piece[] {
    const pieces: Piece[] = []
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#hold(chunk, from, at)
      pieces.push(this.#finish(1))
      from = at + 1
    }
    this.#hold(chunk, from, chunk.length)
    return pieces.filter((piece) => piece.kind === 'gap' || piece.text !== '')
  }

  /** What came after the last newline. Only to be called when no more will come. */
  flush(): Piece[] {
    return this.#heldBytes === 0 ? [] : [this.#finish(0)]
  }

  #hold(chunk: Buffer, from: number, to: number): void {
    if (from === to) return
    this.#heldBytes += to - from
    if (this.#heldBytes > this.#maxLine) this.#held = []
    else this.#held.push(chunk.subarray(from, to))
  }

  #finish(newlineBytes: number): Piece {
    const from = this.#start
    const end = from + this.#heldBytes + newlineBytes
    const piece: Piece =
      this.#heldBytes > this.#maxLine ? { kind: 'gap', from, end } : { kind: 'line', text: this.#text(), end }
    this.#start = end
    this.#held = []
    this.#heldBytes = 0
    return piece
  }

  #text(): string {
    const [only] = this.#held
    const bytes = this.#held.length === 1 && only ? only : Buffer.concat(this.#held)
    const length = bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length
    return bytes.toString('utf8', 0, length)
  }
}
