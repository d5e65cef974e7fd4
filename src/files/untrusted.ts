/**
 * Opens files that others can write: a repository, an agent, another program. A FIFO or a device is opened without waiting, and not
 * read; what is checked (type, size) is the file that was opened, so that it cannot be exchanged in between; no more bytes are read
 * than the caller allows, whatever the file says about its size. Every read of such a file goes through this module: one read that
 * waits forever blocks a thread of Node's pool, and a few of them block every file operation of the daemon. All functions throw if
 * the machine lacks descriptors or memory.
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { throwIfLacking, unlessLacking } from './lacking.ts'

export interface ReadLimits {
  maxBytes: number
  /**
   * Whether the path itself may be a symbolic link. Default: no. `beside`: only one to a file in the same folder whose name does not
   * begin with a dot, so that whoever can make a link here does not choose which file of the machine is read.
   */
  followLink?: boolean | 'beside'
}

export type UntrustedFile =
  | { kind: 'file'; bytes: Buffer }
  | { kind: 'missing' }
  | { kind: 'folder' }
  /** `why` completes "the file …". */
  | { kind: 'unusable'; why: string }

const flagsFor = (followLink: boolean) =>
  constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | (followLink ? 0 : constants.O_NOFOLLOW)

/** Opens a regular file for reading. null: there is none, or it is something else. */
export async function openUntrusted(
  path: string | Buffer,
  { followLink = false } = {},
): Promise<FileHandle | null> {
  const file = await open(path, flagsFor(followLink)).catch(unlessLacking(null))
  if (file === null) return null
  const stats = await file.stat().catch(() => null)
  if (stats?.isFile()) return file
  await file.close()
  return null
}

/** The text of a regular file. null: there is none, it is something else, or it is too large. */
export async function readUntrusted(path: string, maxBytes: number): Promise<string | null> {
  const read = await examineUntrusted(path, { maxBytes })
  return read.kind === 'file' ? read.bytes.toString('utf8') : null
}

export async function examineUntrusted(path: string, limits: ReadLimits): Promise<UntrustedFile> {
  let file: FileHandle
  try {
    file = await open(path, flagsFor(limits.followLink !== undefined && limits.followLink !== false))
  } catch (error) {
    return explain(error)
  }
  try {
    if (limits.followLink === 'beside' && !(await isBeside(file, path)))
      return unusable('is a symbolic link to another folder or a hidden file')
    const refused = refuse(await file.stat(), limits)
    if (refused) return refused
    const bytes = Buffer.alloc(limits.maxBytes + 1 > READ_AT_ONCE ? READ_AT_ONCE : limits.maxBytes + 1)
    const parts: Buffer[] = []
    for (let total = 0; ; ) {
      const { bytesRead } = await file.read(bytes, 0, bytes.length, null)
      if (bytesRead === 0) return { kind: 'file', bytes: Buffer.concat(parts) }
      total += bytesRead
      if (total > limits.maxBytes) return tooLarge(limits)
      parts.push(Buffer.from(bytes.subarray(0, bytesRead)))
    }
  } catch (error) {
    return explain(error)
  } finally {
    await file.close()
  }
}

/** Asks for the file that was opened: the link may have been exchanged since. */
async function isBeside({ fd }: FileHandle, path: string): Promise<boolean> {
  const opened = await readlink(`/proc/self/fd/${fd}`)
  if (dirname(opened) !== (await realpath(dirname(path)))) return false
  return basename(opened) === basename(path) || !basename(opened).startsWith('.')
}

export function examineUntrustedSync(
  path: string,
  limits: ReadLimits & { followLink?: boolean },
): UntrustedFile {
  let file: number
  try {
    file = openSync(path, flagsFor(limits.followLink ?? false))
  } catch (error) {
    return explain(error)
  }
  try {
    const refused = refuse(fstatSync(file), limits)
    if (refused) return refused
    const bytes = Buffer.alloc(limits.maxBytes + 1 > READ_AT_ONCE ? READ_AT_ONCE : limits.maxBytes + 1)
    const parts: Buffer[] = []
    for (let total = 0; ; ) {
      const count = readSync(file, bytes, 0, bytes.length, null)
      if (count === 0) return { kind: 'file', bytes: Buffer.concat(parts) }
      total += count
      if (total > limits.maxBytes) return tooLarge(limits)
      parts.push(Buffer.from(bytes.subarray(0, count)))
    }
  } catch (error) {
    return explain(error)
  } finally {
    closeSync(file)
  }
}

const READ_AT_ONCE = 1 << 18

function refuse(stats: Stats, limits: ReadLimits): UntrustedFile | null {
  if (stats.isDirectory()) return { kind: 'folder' }
  if (!stats.isFile()) return unusable('is not a regular file')
  return stats.size > limits.maxBytes ? tooLarge(limits) : null
}

const unusable = (why: string): UntrustedFile => ({ kind: 'unusable', why })
const tooLarge = ({ maxBytes }: ReadLimits) => unusable(`is larger than ${maxBytes} bytes`)

function explain(error: unknown): UntrustedFile {
  throwIfLacking(error)
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' }
  if (code === 'ELOOP') return unusable('is a symbolic link')
  return unusable(`cannot be read: ${message}`)
}
