/**
 * Judges the free space of a disk.
 *
 *   ample ──less than needed──→ low: new attempts wait ──almost nothing left──→ full: the reserve is released, running
 *     ↑                          │                                               attempts are stopped and wait
 *     └──────enough again────────┴───────────────────────enough again──────────────┘
 *
 * A full disk counts as full until there is enough again: the reserve that was released must not be taken for space.
 */
import { formatSize } from '../contract/quantity.ts'

export type DiskLevel = 'ample' | 'low' | 'full'

export interface DiskFree {
  freeBytes: number
  totalBytes: number
  /** null: the file system does not limit the number of files. */
  freeFiles: number | null
  totalFiles: number | null
}

export interface DiskJudgement {
  level: DiskLevel
  needBytes: number
  freeBytes: number
  /** For people; empty if the level is ample. */
  message: string
}

/** A small disk would otherwise never be large enough. */
const SHARE = 0.1
const MIN_FILES = 1000
const RESERVED_SHARE = 1 / 8
const MAX_RESERVE_BYTES = 4 * 2 ** 20
const FULL_FILES = 1 / 20

/** How much is kept in the reserve. The disk is full when less than this is free. */
export const reserveBytes = (needBytes: number): number =>
  Math.min(MAX_RESERVE_BYTES, Math.floor(needBytes * RESERVED_SHARE))

export function judgeDisk(
  path: string,
  disk: DiskFree,
  { minFreeBytes, before }: { minFreeBytes: number; before: DiskLevel },
): DiskJudgement {
  const needBytes = Math.floor(Math.min(minFreeBytes, disk.totalBytes * SHARE))
  const needFiles = disk.totalFiles === null ? 0 : Math.floor(Math.min(MIN_FILES, disk.totalFiles * SHARE))
  const files = disk.freeFiles ?? Number.POSITIVE_INFINITY
  if (minFreeBytes === 0 || (disk.freeBytes >= needBytes && files >= needFiles))
    return { level: 'ample', needBytes, freeBytes: disk.freeBytes, message: '' }
  const isFull =
    before === 'full' || disk.freeBytes < reserveBytes(needBytes) || files < needFiles * FULL_FILES
  const lacksBytes = disk.freeBytes < needBytes
  const message = lacksBytes
    ? `disk nearly full: ${formatSize(disk.freeBytes)} free on the disk of ${path}, needs ${formatSize(needBytes)}`
    : `disk nearly full: ${files} more files possible on the disk of ${path}, needs ${needFiles}`
  return { level: isFull ? 'full' : 'low', needBytes, freeBytes: disk.freeBytes, message }
}
