/**
 * Archives the session files of jobs when an attempt has ended, so that they survive the agent's own clean-up:
 * `<archive>/<job>/<session>.jsonl.gz`, and `<session>/…` beside it for the other files of the session. The files are
 * compressed, and readable by this user only.
 *
 * Each file is written atomically, the transcript last: if the transcript exists, the other files do too. Archiving
 * again replaces the files. An id that could be a path is refused. restore.ts restores sessions.
 */
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, type Dirent } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { AgentAdapter, Env } from '../../agents/adapter.ts'

export interface ArchiveParts {
  archiveDir: string
  adapter: Pick<AgentAdapter, 'locateSession'>
  env: Env
}

export interface ArchivedSession {
  jobId: string
  agentSessionId: string
}

export interface Archived {
  path: string
  /** The compressed size. */
  bytes: number
}

/**
 * Returns null if the agent has no transcript and the archive has none. Rejects only if the archive cannot be written.
 */
export async function archiveSession(
  { archiveDir, adapter, env }: ArchiveParts,
  session: ArchivedSession & { workDir: string },
): Promise<Archived | null> {
  const path = pathOf(archiveDir, session)
  if (path === null) return null
  const files = await adapter.locateSession(session.agentSessionId, env, session.workDir)
  if (files?.folder) await archiveFolder(files.folder, path.slice(0, -SUFFIX.length))
  if (files) await compress(files.transcript, path)
  return stat(path).then(
    ({ size }) => ({ path, bytes: size }),
    () => null,
  )
}

/** The decompressed transcript; null if it is not in the archive. */
export async function readArchive(archiveDir: string, session: ArchivedSession): Promise<Readable | null> {
  const path = pathOf(archiveDir, session)
  const file = path === null ? null : await open(path).catch(ignoreMissing)
  if (!file) return null
  const whole = createGunzip()
  return file
    .createReadStream()
    .on('error', (error) => whole.destroy(error))
    .pipe(whole)
}

/** The paths of a session in the archive: its compressed transcript, and a folder that may not exist. */
export async function archivedFiles(
  archiveDir: string,
  session: ArchivedSession,
): Promise<{ transcript: string; folder: string; writtenMs: number } | null> {
  const path = pathOf(archiveDir, session)
  const found = path !== null && (await stat(path).catch(ignoreMissing))
  if (path === null || !found) return null
  return { transcript: path, folder: path.slice(0, -SUFFIX.length), writtenMs: found.mtimeMs }
}

/** The archived transcripts of a job. */
export async function listArchive(
  archiveDir: string,
  jobId: string,
): Promise<(Archived & { agentSessionId: string })[]> {
  if (!SAFE_NAME.test(jobId)) return []
  const dir = join(archiveDir, jobId)
  const names = (await list(dir)).map(({ name }) => name).filter((name) => name.endsWith(SUFFIX))
  return Promise.all(
    names.map(async (name) => {
      const path = join(dir, name)
      return { agentSessionId: name.slice(0, -SUFFIX.length), path, bytes: (await stat(path)).size }
    }),
  )
}

/** Removes the archives of jobs that are older than `keepMs`. Returns their number. */
export async function sweepArchive(archiveDir: string, keepMs: number, now: Date): Promise<number> {
  const folders = (await list(archiveDir)).filter((entry) => entry.isDirectory())
  const leftovers = folders.flatMap(({ name }) => (name.startsWith(REMOVING) ? [join(archiveDir, name)] : []))
  let removed = 0
  for (const { name } of folders) {
    if (!SAFE_NAME.test(name)) continue
    const dir = join(archiveDir, name)
    if (now.getTime() - (await archivedAt(dir)) <= keepMs) continue
    // The folder is renamed first, so that a crash cannot leave half an archive under the name of the job.
    const away = join(archiveDir, `${REMOVING}${name}-${randomUUID()}`)
    await rename(dir, away)
    leftovers.push(away)
    removed++
  }
  for (const dir of leftovers) await rm(dir, { recursive: true, force: true })
  return removed
}

const SUFFIX = '.jsonl.gz'
const REMOVING = '.removing-'
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

function pathOf(archiveDir: string, { jobId, agentSessionId }: ArchivedSession): string | null {
  if (!SAFE_NAME.test(jobId) || !SAFE_NAME.test(agentSessionId)) return null
  return join(archiveDir, jobId, `${agentSessionId}${SUFFIX}`)
}

/** When the newest transcript of the job was written. */
async function archivedAt(dir: string): Promise<number> {
  const names = (await list(dir)).map((entry) => entry.name).filter((name) => name.endsWith(SUFFIX))
  const times = await Promise.all(names.map(async (name) => (await stat(join(dir, name))).mtimeMs))
  return times.length > 0 ? Math.max(...times) : (await stat(dir)).mtimeMs
}

/** Copies regular files only, because a link could point anywhere. */
async function archiveFolder(from: string, to: string): Promise<void> {
  for (const entry of await list(from)) {
    if (entry.isDirectory()) await archiveFolder(join(from, entry.name), join(to, entry.name))
    else if (entry.isFile()) await compress(join(from, entry.name), join(to, `${entry.name}.gz`))
  }
}

/** Does nothing if the source no longer exists. */
async function compress(from: string, to: string): Promise<void> {
  const source = await open(from).catch(ignoreMissing)
  if (!source) return
  const partial = `${to}.${randomUUID()}.partial`
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    // The file is flushed to the disk before it is renamed.
    const target = createWriteStream(partial, { mode: 0o600, flush: true })
    await pipeline(createReadStream(from, { fd: source }), createGzip(), target)
    await rename(partial, to)
  } finally {
    await source.close().catch(() => {})
    await rm(partial, { force: true })
  }
}

const list = (dir: string): Promise<Dirent[]> =>
  readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => ignoreMissing(error) ?? [])

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
  throw error
}
