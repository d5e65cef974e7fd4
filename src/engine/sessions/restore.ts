/**
 * Restores an archived session to where its agent looks for it. With another HOME, in another container or after the
 * agent's own clean-up its files are missing, but the archive still has them.
 *
 * Each file is written atomically and never replaces an existing one. The transcript is written last: if it exists, the
 * other files do too. Whether the restored transcript is new enough to be resumed is checked later, as for any
 * transcript.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, open, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { AgentAdapter, Env } from '../../agents/adapter.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { type ArchivedSession, archivedFiles } from './archive.ts'

export interface RestoreDeps {
  store: Pick<Store, 'listRuns'>
  /** The folder that keeps the transcripts of jobs. */
  archive: string
  log: Log
}

export interface RestoreParts {
  archiveDir: string
  adapter: Pick<AgentAdapter, 'placeSession'>
  env: Env
}

/** Returns false if the archive does not have the session. */
export async function restoreSession(
  { archiveDir, adapter, env }: RestoreParts,
  session: ArchivedSession & { workDir: string },
): Promise<boolean> {
  const archived = await archivedFiles(archiveDir, session)
  const target = archived && adapter.placeSession(session.agentSessionId, env, session.workDir)
  if (!target) return false
  if (target.folder) await restoreFolder(archived.folder, target.folder)
  await decompress(archived.transcript, target.transcript)
  return true
}

/** The jobs for which the session is archived, newest copy first, because older copies lack the latest turns. */
export async function newestArchives(
  archiveDir: string,
  jobIds: Iterable<string>,
  agentSessionId: string,
): Promise<string[]> {
  const found = await Promise.all(
    [...jobIds].map(async (jobId) => {
      const writtenMs = (await archivedFiles(archiveDir, { jobId, agentSessionId }))?.writtenMs
      return writtenMs === undefined ? [] : [{ jobId, writtenMs }]
    }),
  )
  return found
    .flat()
    .toSorted((a, b) => b.writtenMs - a.writtenMs)
    .map(({ jobId }) => jobId)
}

/** Restores the newest archived copy, of any job. If that fails, the run starts a new session. */
export async function restoreIfArchived(
  deps: RestoreDeps,
  { adapter, env }: Pick<RestoreParts, 'adapter' | 'env'>,
  run: RunRecord,
  session: SessionRecord & { workDir: string },
): Promise<boolean> {
  const { items } = await deps.store.listRuns({ limit: RUNS, sessionId: session.id })
  const jobs = new Set([run, ...items].flatMap(({ links }) => links.jobId ?? []))
  const { agentSessionId, workDir } = session
  for (const jobId of await newestArchives(deps.archive, jobs, agentSessionId)) {
    try {
      const where = { archiveDir: deps.archive, adapter, env }
      if (await restoreSession(where, { jobId, agentSessionId, workDir })) {
        deps.log.info({ run: run.id, session: session.id, job: jobId }, 'restored a session from the archive')
        return true
      }
    } catch (error) {
      deps.log.error({ run: run.id, job: jobId, error: String(error) }, 'could not restore a session')
    }
  }
  return false
}

const RUNS = 50
const COMPRESSED = '.gz'

async function restoreFolder(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const source = join(from, entry.name)
    if (entry.isDirectory()) await restoreFolder(source, join(to, entry.name))
    else if (entry.isFile() && entry.name.endsWith(COMPRESSED)) {
      await decompress(source, join(to, entry.name.slice(0, -COMPRESSED.length)))
    }
  }
}

/** Does nothing if the file exists, because an existing file is at least as new. */
async function decompress(from: string, to: string): Promise<void> {
  // The name must not end in `.jsonl`, because the agent treats every such file as a session.
  const partial = join(dirname(to), `.${basename(to)}.${randomUUID()}.restoring`)
  const source = await open(from)
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    const target = createWriteStream(partial, { mode: 0o600, flush: true })
    await pipeline(source.createReadStream(), createGunzip(), target)
    await link(partial, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await source.close().catch(() => {})
    await rm(partial, { force: true })
  }
}
