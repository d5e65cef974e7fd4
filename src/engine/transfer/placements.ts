/**
 * Notes which files are being placed for a session that is not stored yet, so that a daemon that dies in between leaves
 * nothing that would block another import or be taken for a session that a person made.
 *
 * A note exists from before the first file until the session is stored or its files are removed. The files and the folder
 * are created under other names before the note is written, which has their inodes: a rename and a link keep those. So
 * what has the final name now is removed only if it is what was placed, and never something that the agent made.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'

const Inode = z.object({ dev: z.number(), ino: z.number() })
const Paths = z.object({ partial: z.string(), final: z.string() })
const Noted = Paths.extend(Inode.shape)
const Note = z.object({ agentSessionId: z.string(), transcript: Noted, folder: Noted.nullable() })
type Note = z.infer<typeof Note>
type NotedPath = z.infer<typeof Noted>

export interface PlacementPaths {
  agentSessionId: string
  transcript: z.infer<typeof Paths>
  folder: z.infer<typeof Paths> | null
}

export interface Placed {
  paths: PlacementPaths
  /** The session is stored, and its files stay. */
  keep: () => Promise<void>
  /** Removes the files. */
  undo: () => Promise<void>
}

const SUFFIX = '.placing.json'

/** Creates the unnamed file and folder, both empty, and notes them. */
export async function notePlacement(dir: string, paths: PlacementPaths): Promise<Placed> {
  const path = join(dir, `${randomUUID()}${SUFFIX}`)
  const { transcript, folder } = paths
  try {
    if (folder) await mkdir(folder.partial, { mode: 0o700 })
    await (await open(transcript.partial, 'wx', 0o600)).close()
    const note: Note = {
      agentSessionId: paths.agentSessionId,
      transcript: { ...transcript, ...(await inodeOf(transcript.partial)) },
      folder: folder && { ...folder, ...(await inodeOf(folder.partial)) },
    }
    await mkdir(dir, { recursive: true, mode: 0o700 })
    await writeFile(`${path}~`, JSON.stringify(note), { mode: 0o600, flush: true })
    await rename(`${path}~`, path)
    return {
      paths,
      keep: () => end(path, note, { remove: false }),
      undo: () => end(path, note, { remove: true }),
    }
  } catch (error) {
    for (const left of [transcript.partial, folder?.partial, `${path}~`, path]) {
      if (left !== undefined) await rm(left, { recursive: true, force: true })
    }
    throw error
  }
}

/** The note goes last: an interruption is made good by the next start. */
async function end(
  path: string,
  { transcript, folder }: Note,
  { remove }: { remove: boolean },
): Promise<void> {
  if (remove) {
    await removeIfPlaced(transcript)
    if (folder) await removeIfPlaced(folder)
  }
  await rm(transcript.partial, { force: true })
  if (folder) await rm(folder.partial, { recursive: true, force: true })
  await rm(path, { force: true })
}

async function removeIfPlaced({ final, dev, ino }: NotedPath): Promise<void> {
  const found = await inodeOf(final).catch(() => null)
  if (found?.dev === dev && found.ino === ino) await rm(final, { recursive: true, force: true })
}

async function inodeOf(path: string): Promise<z.infer<typeof Inode>> {
  const { dev, ino } = await stat(path)
  return { dev, ino }
}

export interface RecoverDeps {
  store: Pick<Store, 'findSession'>
  log: Log
  imports: string
}

/** At start: removes what a daemon that died was receiving and placing, except for sessions that were stored. */
export async function recoverPlacements({ store, log, imports }: RecoverDeps): Promise<void> {
  const names = await readdir(imports).catch(() => [])
  for (const name of names.filter((one) => one.endsWith(SUFFIX))) {
    const path = join(imports, name)
    try {
      const note = Note.parse(JSON.parse(await readFile(path, 'utf8')))
      const isStored = (await store.findSession(note.agentSessionId)) !== null
      await end(path, note, { remove: !isStored })
      if (!isStored) log.info({ path: note.transcript.final }, 'removed the files of an unfinished copy')
    } catch (error) {
      log.warn({ path, error: String(error) }, 'could not remove the files of an unfinished copy')
    }
  }
  await rm(imports, { recursive: true, force: true })
}
