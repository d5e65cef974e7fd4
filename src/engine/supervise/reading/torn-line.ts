/**
 * Finds lines that a full disk has torn. An agent that prints a line into a full disk writes the part for which the file
 * already has a block, so the line is cut where a block of the disk ends; the agent's next line, if it prints one,
 * begins there. Whatever it printed in between is lost, perhaps a question that it waits for.
 *
 * A file system that needs a new block for every write (copy on write) leaves no such trace.
 */

/** Disks allocate multiples of this. */
const BLOCK_BYTES = 512
const OPENING = '{'.charCodeAt(0)

/** How long the beginning of a line may stay alone. A line is written at once, unless its writer is stopped. */
const ALONE_MS = 2000

/**
 * Where a line that could not be parsed was cut; null: nothing shows that it was. `from` is its position; an `unfinished`
 * one is the end of all output.
 */
export function findTear(line: string, from: number, unfinished: boolean): number | null {
  const bytes = Buffer.from(line)
  if (bytes[0] !== OPENING) return null
  for (let at = BLOCK_BYTES - (from % BLOCK_BYTES); at <= bytes.length; at += BLOCK_BYTES) {
    if (bytes[at] === OPENING || (unfinished && at === bytes.length)) return from + at
  }
  return null
}

/**
 * Notices a line that was begun and is not continued, because the agent prints nothing more after a failed write. The
 * gap is recorded when the line ends, with the agent at the latest.
 */
export class TornEnd {
  #at: number | null = null
  #tornFromMs = 0

  /** Returns true once if the output ends with a torn line. `offset` is where its last, unfinished line begins. */
  look({ readTo, offset }: { readTo: number; offset: number }, nowMs: number): boolean {
    if (this.#at !== readTo) {
      this.#at = readTo
      const mayBeTorn = readTo > offset && readTo % BLOCK_BYTES === 0
      this.#tornFromMs = mayBeTorn ? nowMs + ALONE_MS : Number.POSITIVE_INFINITY
    }
    if (nowMs < this.#tornFromMs) return false
    this.#tornFromMs = Number.POSITIVE_INFINITY
    return true
  }
}
