/**
 * Puts the files of a session where its agent looks for them. The folder comes first and the transcript last, each
 * complete before it gets its name, so that an agent never finds half a session. An existing file is never replaced.
 *
 *     noted (placements.ts) → copied under other names → named → the session is stored: `keep`, or not: `undo`
 *
 * A failure removes what was placed. If the daemon dies, the next one finds the note and does so.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { SessionFiles } from '../../agents/session-files.ts'
import { RepriseError } from '../../contract/errors.ts'
import { TRANSCRIPT } from './bundle.ts'
import { listFiles, readUpTo, type SessionFile } from './files.ts'
import { mapLines } from './line-stream.ts'
import { notePlacement, type Placed } from './placements.ts'

export interface PlaceDeps {
  /** The directory in which imports are received, and placements are noted. */
  imports: string
}

export interface Placing {
  /** The id that the agent knows the placed session by. */
  agentSessionId: string
  from: SessionFiles
  /** The part of the transcript that is copied; null: all of it. */
  bytes: number | null
  to: SessionFiles
  /** How lines of the files that name the session change; null: it keeps its id. */
  rename: { isChanged: (path: string) => boolean; change: (line: string) => string } | null
}

export async function placeFiles(deps: PlaceDeps, placing: Placing): Promise<Placed> {
  const { agentSessionId, from, to } = placing
  const others: SessionFile[] = []
  let transcript: SessionFile | null = null
  for await (const file of listFiles(from)) {
    if (file.name === TRANSCRIPT) transcript = file
    else if (to.folder) others.push(file)
  }
  if (transcript === null) throw new Error(`${from.transcript} is not listed`)
  await mkdir(dirname(to.transcript), { recursive: true, mode: 0o700 })
  // Names that the agent takes neither for a session nor for a session's folder.
  const partial = join(dirname(to.transcript), `.${basename(to.transcript)}.${randomUUID()}.placing`)
  const placed = await notePlacement(deps.imports, {
    agentSessionId,
    transcript: { partial, final: to.transcript },
    folder: others.length > 0 && to.folder ? { partial: `${partial}.files`, final: to.folder } : null,
  }).catch((error: unknown) => {
    throw explain(to, error)
  })
  const { folder } = placed.paths
  const copy = (source: SessionFile, target: string, length: number | null) =>
    copyFile(source, target, length, placing.rename?.isChanged(source.path) ? placing.rename.change : null)
  try {
    if (folder) {
      for (const file of others) {
        await copy(file, join(folder.partial, ...file.name.split('/').slice(1)), null)
      }
    }
    await copy(transcript, partial, placing.bytes)
    if (folder) await rename(folder.partial, folder.final)
    await link(partial, to.transcript)
    return placed
  } catch (error) {
    await placed.undo()
    throw explain(to, error)
  }
}

async function copyFile(
  from: SessionFile,
  to: string,
  bytes: number | null,
  change: ((line: string) => string) | null,
): Promise<void> {
  const source = await readUpTo(from, bytes)
  // A file may disappear while a live session is copied; the transcript is not removed while the agent runs.
  if (source === null) return
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const target = createWriteStream(to, { flags: 'w', mode: 0o600, flush: true })
  await pipeline(change ? mapLines(source, change) : source, target)
}

function explain({ transcript }: SessionFiles, cause: unknown): unknown {
  const code = (cause as NodeJS.ErrnoException).code ?? ''
  if (['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(code)) {
    return new RepriseError('conflict', `the agent already has files of this session at ${transcript}`, {
      hint: 'They were left as they are. Import it as a copy with an id of its own: --as-copy',
      cause,
    })
  }
  if (['ENOSPC', 'EDQUOT'].includes(code)) {
    return new RepriseError('home-unusable', `there is no room for a session at ${dirname(transcript)}`, {
      hint: 'Nothing was left there. Free some space and try again.',
      cause,
    })
  }
  return cause
}
