/** Reads how much a disk has left, and keeps a file on it that can be deleted to make room. */
import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { type FileHandle, open, stat, statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { DiskFree } from '../core/disk.ts'

/** A disk on the network that does not answer must not stop everything else. */
const ANSWER_WITHIN_MS = 2000

/** The first path on each disk. */
export function onePerDisk(paths: readonly string[]): string[] {
  const disks = paths.map((path) => statSync(path).dev)
  return paths.filter((_path, index) => disks.indexOf(disks[index] ?? 0) === index)
}

/** null: nothing is known, because the file system says nothing or does not answer. */
export async function readDiskFree(path: string): Promise<DiskFree | null> {
  const late = new AbortController()
  const timeout = delay(ANSWER_WITHIN_MS, null, { signal: late.signal, ref: false }).catch(() => null)
  try {
    const read = await Promise.race([statfs(path), timeout])
    if (read === null || read.blocks === 0) return null
    // Some blocks may be reserved for root.
    const blocks = process.getuid?.() === 0 ? read.bfree : read.bavail
    const limited = read.files > 0
    return {
      freeBytes: blocks * read.bsize,
      totalBytes: read.blocks * read.bsize,
      freeFiles: limited ? read.ffree : null,
      totalFiles: limited ? read.files : null,
    }
  } catch {
    return null
  } finally {
    late.abort()
  }
}

export interface Reserve {
  /** Makes the file this large. Does nothing if it is. */
  fill: (bytes: number) => Promise<void>
  release: () => void
}

const CHUNK_BYTES = 1 << 18

export function openReserve(path: string): Reserve {
  return {
    fill: async (bytes) => {
      const size = await stat(path).then(
        (found) => found.size,
        () => 0,
      )
      if (size >= bytes) return
      let file: FileHandle | null = null
      try {
        file = await open(path, 'w', 0o600)
        // Random bytes, because a file system may compress others or leave them out.
        for (let left = bytes; left > 0; left -= CHUNK_BYTES)
          await file.write(randomBytes(Math.min(CHUNK_BYTES, left)))
      } catch {
        rmSync(path, { force: true })
      } finally {
        await file?.close()
      }
    },
    release: () => rmSync(path, { force: true }),
  }
}
