/** The last lines of the daemon's log, and those that are added to it. */
import { type FileHandle, open, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Only the end of a large log is read. */
const MAX_TAIL_BYTES = 16 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const POLL_MS = 250

export interface Tail {
  lines: string[]
  /** Where the next line begins. */
  end: Position
}

interface Position {
  inode: number
  offset: number
}

/** Returns null if there is no log. A last line that is not complete yet is left out. */
export async function readTail(path: string, count: number): Promise<Tail | null> {
  const file = await openIfThere(path)
  if (!file) return null
  try {
    const { size, ino: inode } = await file.stat()
    const from = Math.max(0, size - MAX_TAIL_BYTES)
    const text = await readRange(file, from, size)
    const complete = text.subarray(0, text.lastIndexOf(NEWLINE) + 1)
    const lines = complete.toString('utf8').split('\n').slice(0, -1)
    // The first line of a part of the log may be torn.
    const whole = from > 0 ? lines.slice(1) : lines
    return {
      lines: count === 0 ? [] : whole.slice(-count),
      end: { inode, offset: from + complete.length },
    }
  } finally {
    await file.close()
  }
}

/** Yields lines as they are added. A log that is renamed or cut is read again from its beginning. */
export async function* followLines(path: string, from: Position | null): AsyncGenerator<string> {
  let at = from
  for (;;) {
    const found = await stat(path).catch(() => null)
    if (found) {
      if (found.ino !== at?.inode || found.size < at.offset) at = { inode: found.ino, offset: 0 }
      if (found.size > at.offset) {
        const { lines, offset } = await readFrom(path, at.offset, found.size)
        yield* lines
        at = { ...at, offset }
      }
    }
    await sleep(POLL_MS)
  }
}

const NEWLINE = 10

async function readFrom(
  path: string,
  from: number,
  to: number,
): Promise<{ lines: string[]; offset: number }> {
  const file = await openIfThere(path)
  if (!file) return { lines: [], offset: from }
  try {
    const bytes = await readRange(file, from, to)
    const end = bytes.lastIndexOf(NEWLINE) + 1
    const lines = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1)
    return { lines, offset: from + end }
  } finally {
    await file.close()
  }
}

async function readRange(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let at = from; at < to; ) {
    const part = Buffer.alloc(Math.min(CHUNK_BYTES, to - at))
    const { bytesRead } = await file.read(part, 0, part.length, at)
    if (bytesRead === 0) break
    parts.push(part.subarray(0, bytesRead))
    at += bytesRead
  }
  return Buffer.concat(parts)
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
