/**
 * Moves what earlier versions archived into the mirror. They kept the transcripts of jobs only, one copy for each job:
 * `<archive>/<job>/<agent's session id>.jsonl.gz`, with a folder beside it for other files. Of several copies of a session
 * the newest is kept. A compressed file of the archive is a chunk of the mirror under another name, so nothing is copied.
 *
 * A session that has a mirror keeps it: the mirror is newer. Files of sessions that are not known stay where they are. A
 * crash in between repeats the rest at the next start.
 */
import { createReadStream, type Dirent } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { SessionId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { chunkName } from './chunks.ts'
import type { Mirror } from './mirror.ts'

export interface ImportArchiveDeps {
  store: Pick<Store, 'findSession'>
  mirrors: Pick<Mirror, 'list' | 'placeOf'>
  log: Log
  archive: string
}

const SUFFIX = '.jsonl.gz'

interface Archived {
  agentSessionId: string
  path: string
  writtenMs: number
}

/** Never rejects. */
export async function importArchive(deps: ImportArchiveDeps): Promise<void> {
  const { store, log, archive } = deps
  try {
    for (const { agentSessionId, path } of await listArchived(archive)) {
      const session = await store.findSession(agentSessionId)
      if (session) await move(deps, { id: session.id, agentSessionId }, path)
    }
    await removeEmpty(archive)
  } catch (error) {
    log.error({ archive, error: String(error) }, 'could not move archived transcripts into the mirror')
  }
}

/** Newest first. */
async function listArchived(archive: string): Promise<Archived[]> {
  const found: Archived[] = []
  for (const job of await listDir(archive)) {
    if (!job.isDirectory() || job.name.startsWith('.')) continue
    for (const { name } of await listDir(join(archive, job.name))) {
      if (!name.endsWith(SUFFIX)) continue
      const path = join(archive, job.name, name)
      const { mtimeMs } = await stat(path)
      found.push({ agentSessionId: name.slice(0, -SUFFIX.length), path, writtenMs: mtimeMs })
    }
  }
  return found.toSorted((a, b) => b.writtenMs - a.writtenMs)
}

async function move(
  { mirrors, log }: ImportArchiveDeps,
  session: { id: SessionId; agentSessionId: string },
  path: string,
): Promise<void> {
  const folder = path.slice(0, -SUFFIX.length)
  const place = mirrors.placeOf(session)
  if (place === null) return
  try {
    if ((await mirrors.list(session)).length === 0) {
      await moveFolder(folder, place.files)
      await moveFile(path, place.dir, place.transcript)
    }
    await rm(folder, { recursive: true, force: true })
    await rm(path, { force: true })
  } catch (error) {
    // A damaged file stays where it is.
    log.warn({ path, error: String(error) }, 'could not move an archived transcript into the mirror')
  }
}

async function moveFolder(from: string, to: string): Promise<void> {
  for (const entry of await listDir(from)) {
    const source = join(from, entry.name)
    if (entry.isDirectory()) await moveFolder(source, join(to, entry.name))
    else if (entry.isFile() && entry.name.endsWith('.gz'))
      await moveFile(source, to, basename(entry.name, '.gz'))
  }
}

async function moveFile(from: string, dir: string, name: string): Promise<void> {
  let to = 0
  await pipeline(createReadStream(from), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) to += chunk.length
  })
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await rename(from, join(dir, chunkName(name, { generation: 1, from: 0, to })))
}

/** Removes the folders that are empty now. */
async function removeEmpty(archive: string): Promise<void> {
  const folders = (await listDir(archive)).filter((entry) => entry.isDirectory())
  for (const dir of [...folders.map(({ name }) => join(archive, name)), archive])
    await rmdir(dir).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOTEMPTY', 'ENOENT', 'EEXIST'].includes(error.code ?? '')) throw error
    })
}

const listDir = (dir: string): Promise<Dirent[]> => readdir(dir, { withFileTypes: true }).catch(() => [])
