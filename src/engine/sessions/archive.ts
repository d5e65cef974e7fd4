/**
 * Copies of the session files of jobs, made when an attempt has ended, so that an agent's own clean-up cannot take them
 * away:
 * `<archive>/<job>/<session>.jsonl.gz`, and beside it `<session>/…` for what belongs to the session. Compressed; for
 * this user only.
 *
 * Each file appears in one step, the transcript last: where it is, the rest is too. Doing it again replaces what is
 * there. An id that could be a path is refused. How a session is put back is in restore.ts.
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
  /** Compressed. */
  bytes: number
}

/** null: there is no transcript, here or in the archive. Rejects only if the archive cannot be written. */
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

/** The transcript as it was; null if it is not in the archive. */
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

/** Where the archive has a session: its transcript, compressed, and a folder that may not be there. */
export async function archivedFiles(
  archiveDir: string,
  session: ArchivedSession,
): Promise<{ transcript: string; folder: string; writtenMs: number } | null> {
  const path = pathOf(archiveDir, session)
  const found = path !== null && (await stat(path).catch(ignoreMissing))
  if (path === null || !found) return null
  return { transcript: path, folder: path.slice(0, -SUFFIX.length), writtenMs: found.mtimeMs }
}

/** The transcripts that are kept of a job. */
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

/** Removes jobs that were archived longer ago than `keepMs`. Returns how many. */
export async function sweepArchive(archiveDir: string, keepMs: number, now: Date): Promise<number> {
  const folders = (await list(archiveDir)).filter((entry) => entry.isDirectory())
  const leftovers = folders.flatMap(({ name }) => (name.startsWith(REMOVING) ? [join(archiveDir, name)] : []))
  let removed = 0
  for (const { name } of folders) {
    if (!SAFE_NAME.test(name)) continue
    const dir = join(archiveDir, name)
    if (now.getTime() - (await archivedAt(dir)) <= keepMs) continue
    // Out of sight in one step: half a job, after a crash, must not look like a job.
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

/** When its newest transcript was written. */
async function archivedAt(dir: string): Promise<number> {
  const names = (await list(dir)).map((entry) => entry.name).filter((name) => name.endsWith(SUFFIX))
  const times = await Promise.all(names.map(async (name) => (await stat(join(dir, name))).mtimeMs))
  return times.length > 0 ? Math.max(...times) : (await stat(dir)).mtimeMs
}

/** Files only: a link could lead anywhere. */
async function archiveFolder(from: string, to: string): Promise<void> {
  for (const entry of await list(from)) {
    if (entry.isDirectory()) await archiveFolder(join(from, entry.name), join(to, entry.name))
    else if (entry.isFile()) await compress(join(from, entry.name), join(to, `${entry.name}.gz`))
  }
}

/** Does nothing if the source has gone meanwhile. */
async function compress(from: string, to: string): Promise<void> {
  const source = await open(from).catch(ignoreMissing)
  if (!source) return
  const partial = `${to}.${randomUUID()}.partial`
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    // Flushed to the disk before it gets its name.
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
