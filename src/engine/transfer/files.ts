/**
 * The files of a session as a list with relative paths: the transcript, then what is in its folder. Only regular files:
 * links are neither followed nor listed, because an agent may have made them.
 */
import { constants, createReadStream } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionFiles } from '../../agents/session-files.ts'
import { TRANSCRIPT } from './bundle.ts'

export interface SessionFile {
  /** In the session's folder; the transcript has a name of its own. */
  name: string
  path: string
}

export async function* listFiles({ transcript, folder }: SessionFiles): AsyncGenerator<SessionFile> {
  yield { name: TRANSCRIPT, path: transcript }
  if (folder) yield* filesIn(folder, 'files')
}

async function* filesIn(dir: string, name: string): AsyncGenerator<SessionFile> {
  const entries = await readdir(dir, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const found = { name: `${name}/${entry.name}`, path: join(dir, entry.name) }
    if (entry.isDirectory()) yield* filesIn(found.path, found.name)
    else if (entry.isFile()) yield found
  }
}

/** Reads a file up to `bytes`, also if it grows meanwhile. null: it is gone, or not a regular file. */
export async function readUpTo(
  path: string,
  bytes: number | null = null,
): Promise<AsyncIterable<Buffer> | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch(() => null)
  if (file === null) return null
  const { size, isRegular } = await describe(file)
  const length = Math.min(size, bytes ?? size)
  if (isRegular && length > 0) return createReadStream(path, { fd: file, end: length - 1 })
  await file.close()
  return isRegular ? nothing() : null
}

async function describe(file: FileHandle): Promise<{ size: number; isRegular: boolean }> {
  const found = await file.stat()
  return { size: found.size, isRegular: found.isFile() }
}

async function* nothing(): AsyncGenerator<Buffer> {}
