/**
 * The files of a session as a list with relative paths: the transcript, then what is in its folder. Only regular files:
 * links are neither followed nor listed, because an agent may have made them. In a folder that an agent in a sandbox can
 * write, a file counts only if it really is where it was listed, also if the agent exchanges a folder for a link meanwhile.
 */
import { constants, createReadStream } from 'node:fs'
import { type FileHandle, open, readdir, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { SessionFiles } from '../../agents/session-files.ts'
import { TRANSCRIPT } from './bundle.ts'

export interface SessionFile {
  /** In the session's folder; the transcript has a name of its own. */
  name: string
  path: string
  /** `path` is real, and no link may lead elsewhere. */
  noLinks: boolean
}

export async function* listFiles({
  transcript,
  folder,
  noLinks = false,
}: SessionFiles): AsyncGenerator<SessionFile> {
  const dir = noLinks ? await realpath(dirname(transcript)) : dirname(transcript)
  yield { name: TRANSCRIPT, path: join(dir, basename(transcript)), noLinks }
  if (folder) {
    const path = dirname(folder) === dirname(transcript) ? join(dir, basename(folder)) : folder
    yield* filesIn({ name: 'files', path, noLinks })
  }
}

async function* filesIn({ name, path, noLinks }: SessionFile): AsyncGenerator<SessionFile> {
  const entries = await readdir(path, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const found = { name: `${name}/${entry.name}`, path: join(path, entry.name), noLinks }
    if (entry.isDirectory()) yield* filesIn(found)
    else if (entry.isFile()) yield found
  }
}

/** Reads a file up to `bytes`, also if it grows meanwhile. null: it is gone, or not a regular file. */
export async function readUpTo(
  { path, noLinks }: Pick<SessionFile, 'path' | 'noLinks'>,
  bytes: number | null = null,
): Promise<AsyncIterable<Buffer> | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch(() => null)
  if (file === null) return null
  const { size, isRegular } = await describe(file, noLinks ? path : null)
  const length = Math.min(size, bytes ?? size)
  if (isRegular && length > 0) return createReadStream(path, { fd: file, end: length - 1 })
  await file.close()
  return isRegular ? nothing() : null
}

async function describe(
  file: FileHandle,
  realPath: string | null,
): Promise<{ size: number; isRegular: boolean }> {
  const found = await file.stat()
  const isThere = realPath === null || (await readlink(`/proc/self/fd/${file.fd}`)) === realPath
  return { size: found.size, isRegular: found.isFile() && isThere }
}

async function* nothing(): AsyncGenerator<Buffer> {}
