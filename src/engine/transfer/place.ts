/**
 * Puts the files of a session where its agent looks for them. The folder comes first and the transcript last, each
 * complete before it gets its name, so that an agent never finds half a session. An existing file is never replaced. If
 * something fails, what was placed is removed again.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { SessionFiles } from '../../agents/session-files.ts'
import { RepriseError } from '../../contract/errors.ts'
import { listFiles, readUpTo, type SessionFile } from './files.ts'
import { mapLines } from './line-stream.ts'

export interface Placing {
  from: SessionFiles
  /** The part of the transcript that is copied; null: all of it. */
  bytes: number | null
  to: SessionFiles
  /** How lines of the files that name the session change; null: it keeps its id. */
  rename: { isChanged: (path: string) => boolean; change: (line: string) => string } | null
}

/** Returns a function that removes the files again. */
export async function placeFiles({
  from,
  bytes,
  to,
  rename: renaming,
}: Placing): Promise<() => Promise<void>> {
  const others: SessionFile[] = []
  for await (const file of listFiles(from)) if (file.path !== from.transcript) others.push(file)
  await mkdir(dirname(to.transcript), { recursive: true, mode: 0o700 })
  // Names that the agent takes neither for a session nor for a session's folder.
  const partial = join(dirname(to.transcript), `.${basename(to.transcript)}.${randomUUID()}.placing`)
  const partialFolder = `${partial}.files`
  const copy = (source: string, target: string, length: number | null) =>
    copyFile(source, target, length, renaming?.isChanged(source) ? renaming.change : null)
  let placedFolder: string | null = null
  const undo = async () => {
    await rm(to.transcript, { force: true })
    if (placedFolder) await rm(placedFolder, { recursive: true, force: true })
  }
  try {
    if (to.folder && others.length > 0) {
      for (const { name, path } of others) {
        await copy(path, join(partialFolder, ...name.split('/').slice(1)), null)
      }
      await rename(partialFolder, to.folder)
      placedFolder = to.folder
    }
    await copy(from.transcript, partial, bytes)
    await link(partial, to.transcript)
    return undo
  } catch (error) {
    if (placedFolder) await rm(placedFolder, { recursive: true, force: true })
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(code)) throw isThere(to, error)
    throw error
  } finally {
    await rm(partial, { force: true })
    await rm(partialFolder, { recursive: true, force: true })
  }
}

async function copyFile(
  from: string,
  to: string,
  bytes: number | null,
  change: ((line: string) => string) | null,
): Promise<void> {
  const source = await readUpTo(from, bytes)
  // A file may disappear while a live session is copied; the transcript is not removed while the agent runs.
  if (source === null) return
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const target = createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true })
  await pipeline(change ? mapLines(source, change) : source, target)
}

const isThere = ({ transcript }: SessionFiles, cause: unknown) =>
  new RepriseError('conflict', `the agent already has files of this session at ${transcript}`, {
    hint: 'They were left as they are. Import it as a copy with an id of its own: --as-copy',
    cause,
  })
