/** Sweeps the files in the home: raw output, copies of transcripts, damaged originals, and folders of sandboxes. */
import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { removeUntrusted } from '../../agents/remove-untrusted.ts'
import { AttemptId, SessionId } from '../../contract/ids.ts'
import type { PruneKind } from '../../contract/prune.ts'
import type { ResumeLimits } from '../../core/resume/facts.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import type { KeepSettings } from '../base/settings.ts'
import { readDisposable } from '../enforce/session-dir.ts'
import type { Mirror } from '../mirror/mirror.ts'
import { cutoff, type Sweep } from './tally.ts'

export interface SweepFilesDeps {
  store: Pick<
    Store,
    'findSpoolEnd' | 'hasSpool' | 'getSession' | 'findSession' | 'findLeaseHolder' | 'isSessionInUse'
  >
  mirrors: Pick<Mirror, 'listSessions' | 'sizeOf' | 'remove' | 'tidy'>
  log: Log
  /** The directory with one folder per attempt. */
  spool: string
  /** The directory with copies of transcripts from before they were repaired. */
  damaged: string
  /** The directory with one folder per session that is used in a sandbox. */
  sandboxes: string
  /** The directory with one folder per session of the provider. */
  agentSessions: string
  settings: {
    keep: Pick<KeepSettings, 'outputMs' | 'transcriptsMs'>
    resume: Pick<ResumeLimits, 'maxAgeMs'>
  }
}

/** The folder of a process that is not stored is left alone for this long. */
const STRAY_MS = 3_600_000

export async function sweepFiles(deps: SweepFilesDeps, sweep: Sweep): Promise<void> {
  await sweepSpool(deps, sweep)
  await sweepMirrors(deps, sweep)
  await sweepDamaged(deps, sweep)
  await sweepSandboxes(deps, sweep)
  await sweepStoredSessions(deps, sweep)
}

/** The events of the attempts are stored; what is lost is the raw output, and the bytes that a `gap` event points to. */
export async function sweepSpool(deps: SweepFilesDeps, sweep: Sweep): Promise<void> {
  const { store, spool, settings } = deps
  const before = cutoff(sweep, settings.keep.outputMs)
  for (const { name } of await listDir(spool)) {
    if (!AttemptId.is(name)) continue
    const path = join(spool, name)
    const endedAt = await store.findSpoolEnd(name)
    const isOld = endedAt !== null && before !== null && endedAt.getTime() <= before.getTime()
    if (isOld || (await isStray(deps, sweep, path, name))) await remove(deps, sweep, 'output', path)
  }
}

/** The process was deleted with the last of its runs. */
async function isStray(
  { store }: SweepFilesDeps,
  { now }: Sweep,
  path: string,
  spool: string,
): Promise<boolean> {
  if (await store.hasSpool(spool)) return false
  const found = await stat(path).catch(() => null)
  return found !== null && now.getTime() - found.mtimeMs > STRAY_MS
}

/** The copies of sessions that have not been used for a while, or are not known any more. */
async function sweepMirrors(deps: SweepFilesDeps, sweep: Sweep): Promise<void> {
  const { store, mirrors, settings, log } = deps
  const before = cutoff(sweep, settings.keep.transcriptsMs)
  if (!sweep.dryRun) await mirrors.tidy()
  for (const id of await mirrors.listSessions()) {
    const known = (await store.getSession(id)) !== null
    if (known && (before === null || (await store.isSessionInUse(id, before)))) continue
    sweep.tally.add('transcripts', { count: 1, bytes: await mirrors.sizeOf(id) })
    if (!sweep.dryRun)
      await mirrors
        .remove(id)
        .catch((error: unknown) =>
          log.warn({ session: id, error: String(error) }, 'could not remove a mirror'),
        )
  }
}

async function sweepDamaged(deps: SweepFilesDeps, sweep: Sweep): Promise<void> {
  const before = cutoff(sweep, deps.settings.keep.transcriptsMs)
  for (const entry of before === null ? [] : await listDir(deps.damaged)) {
    const path = join(deps.damaged, entry.name)
    const found = entry.isFile() ? await stat(path).catch(() => null) : null
    if (before && found && found.mtimeMs < before.getTime()) await remove(deps, sweep, 'damaged', path)
  }
}

/** Removes the files that the provider wrote about sessions that are not known any more. */
async function sweepStoredSessions(deps: SweepFilesDeps, sweep: Sweep): Promise<void> {
  for (const { name } of await listDir(deps.agentSessions)) {
    const path = join(deps.agentSessions, name)
    const isKnown = (await deps.store.findSession(name)) !== null
    const found = isKnown ? null : await stat(path).catch(() => null)
    const isOld = found !== null && sweep.now.getTime() - found.mtimeMs > STRAY_MS
    if (isOld) await remove(deps, sweep, 'transcripts', path)
  }
}

/** The folders (/tmp and the like, and the agent's own) of sessions that can no longer be resumed. */
export async function sweepSandboxes(
  deps: Pick<SweepFilesDeps, 'sandboxes' | 'log'> & {
    store: Pick<SweepFilesDeps['store'], 'getSession' | 'findLeaseHolder'>
    settings: Pick<SweepFilesDeps['settings'], 'resume'>
  },
  sweep: Sweep,
): Promise<void> {
  const { store, sandboxes, settings } = deps
  const oldest = sweep.now.getTime() - settings.resume.maxAgeMs
  for (const { name } of await listDir(sandboxes)) {
    if (!SessionId.is(name)) continue
    const session = await store.getSession(name)
    const isUsable = session !== null && session.lastUsedAt.getTime() >= oldest
    if (isUsable || (await store.findLeaseHolder(name)) !== null) continue
    const dir = join(sandboxes, name)
    await remove(deps, sweep, 'sandboxes', dir, readDisposable(dir))
  }
}

/** One that cannot be removed must not keep the others. */
async function remove(
  { log }: Pick<SweepFilesDeps, 'log'>,
  { dryRun, tally }: Sweep,
  kind: PruneKind,
  path: string,
  /** The rows that are removed with it. */
  others: readonly string[] = [],
): Promise<void> {
  const sizes = await Promise.all([...others, path].map(sizeOf))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  try {
    // An agent may have written there, so its permissions and links cannot be relied on.
    if (!dryRun) for (const one of [...others, path]) await removeUntrusted(one)
    tally.add(kind, { count: 1, bytes })
  } catch (error) {
    log.warn({ path, error: String(error) }, 'could not remove something old')
  }
}

async function sizeOf(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => null)
  if (entries === null) return (await stat(path).catch(() => null))?.size ?? 0
  const files = entries.filter((entry) => entry.isFile())
  const sizes = files.map(
    async (entry) => (await stat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0,
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

const listDir = (dir: string): Promise<Dirent[]> => readdir(dir, { withFileTypes: true }).catch(() => [])
