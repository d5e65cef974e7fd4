/**
 * Removes an incomplete last record that a killed writer left at the end of a transcript. The original is saved first;
 * then a shortened copy replaces it atomically, so that at every moment one complete file is there.
 */
import { constants } from 'node:fs'
import { copyFile, type FileHandle, mkdir, open, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Mended } from '../session-files.ts'
import { isTorn } from './transcript-scan.ts'

/** null: the transcript has no incomplete record (any more). `keepAs` must not exist yet. */
export async function mendClaudeTranscript(path: string, keepAs: string): Promise<Mended | null> {
  // If the path is a symlink, its target is repaired and the link stays.
  const real = await realpath(path)
  const before = await readState(real)
  if (before.wholeBytes === before.bytes) return null
  await mkdir(dirname(keepAs), { recursive: true, mode: 0o700 })
  await copyFile(real, keepAs, constants.COPYFILE_EXCL)
  await withFile(keepAs, async (file) => {
    await file.chmod(0o600)
    await file.sync()
  })
  // Not named `*.jsonl`, because the CLI takes each of those for a session. A leftover of a crash is overwritten.
  const shortened = join(dirname(real), `.${basename(real)}.mending`)
  try {
    await copyFile(real, shortened)
    await withFile(shortened, async (file) => {
      await file.truncate(before.wholeBytes)
      await file.sync()
    })
    const now = await readState(real)
    if (now.bytes !== before.bytes || now.mtimeMs !== before.mtimeMs) {
      throw new Error(`${path} changed while it was being repaired`)
    }
    await rename(shortened, real)
  } finally {
    await rm(shortened, { force: true })
  }
  return { keptAs: keepAs, removedBytes: before.bytes - before.wholeBytes }
}

interface FileState {
  bytes: number
  mtimeMs: number
  /** The position after the last complete record. */
  wholeBytes: number
}

const readState = (path: string): Promise<FileState> =>
  withFile(
    path,
    async (file) => {
      const { size, mtimeMs } = await file.stat()
      const { from, text } = await readTail(file, size)
      return { bytes: size, mtimeMs, wholeBytes: isTorn(text) ? from : size }
    },
    'r',
  )

/** Reads the text after the last newline. */
async function readTail(file: FileHandle, size: number): Promise<{ from: number; text: string }> {
  const pieces: Buffer[] = []
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - (1 << 16))
    const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start)
    const newline = buffer.lastIndexOf(0x0a)
    pieces.unshift(buffer.subarray(newline + 1))
    if (newline >= 0) return { from: start + newline + 1, text: Buffer.concat(pieces).toString('utf8') }
    end = start
  }
  return { from: 0, text: Buffer.concat(pieces).toString('utf8') }
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>, flags = 'r+'): Promise<T> {
  const file = await open(path, flags)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}
