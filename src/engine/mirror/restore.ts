/**
 * Restores the files of a session from its mirror to where its agent looks for them.
 *
 * The rule: a mirror never replaces anything. It is used only if the agent has no transcript of the session at all; each
 * file is written completely under another name and then linked to its own, which fails if there is one by now. So a
 * transcript that is newer than the mirror, or has branched off, stays as it is. The transcript comes last: if it is
 * there, the other files are too. Whether the restored transcript has the last answer is checked afterwards, as for any
 * transcript.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { AgentAdapter, Env } from '../../agents/adapter.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Log } from '../base/log.ts'
import type { Mirror, MirroredFile } from './mirror.ts'
import { readMirrored } from './mirrored-file.ts'

export interface RestoreDeps {
  mirrors: Pick<Mirror, 'list'>
  log: Log
}

export interface RestoreParts {
  adapter: Pick<AgentAdapter, 'placeSession'>
  env: Env
}

/** Returns false if there is no mirror, or it is damaged. Never rejects. */
export async function restoreSession(
  { mirrors, log }: RestoreDeps,
  { adapter, env }: RestoreParts,
  session: Pick<SessionRecord, 'id' | 'agentSessionId' | 'workDir'>,
): Promise<boolean> {
  try {
    const files = await mirrors.list(session)
    const target = adapter.placeSession(session.agentSessionId, env, session.workDir)
    if (files.length === 0 || !target) return false
    for (const file of files) {
      if (file.path.length === 0) await writeFile(file, target.transcript)
      else if (target.folder) await writeFile(file, join(target.folder, ...file.path))
    }
    log.info({ session: session.id, path: target.transcript }, 'restored a session from its mirror')
    return true
  } catch (error) {
    log.error({ session: session.id, error: String(error) }, 'could not restore a session from its mirror')
    return false
  }
}

/** Does nothing if the file exists. */
async function writeFile(file: MirroredFile, to: string): Promise<void> {
  // The name must not end in `.jsonl`, because the agent treats every such file as a session.
  const partial = join(dirname(to), `.${basename(to)}.${randomUUID()}.restoring`)
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    await pipeline(readMirrored(file, file.chain), createWriteStream(partial, { mode: 0o600, flush: true }))
    await link(partial, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(partial, { force: true })
  }
}
