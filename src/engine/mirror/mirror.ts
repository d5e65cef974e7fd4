/**
 * Copies of the session files of agents, so that they survive the agent's own clean-up, a lost container and a deleted
 * home: `<mirror>/<session>/<the agent's session id>/transcript…`, and `files/…` beside it for the other files of the
 * session (sub-agents, long tool results). mirrored-file.ts has the form of a mirrored file. All are compressed, and
 * readable by this user only.
 *
 * A session is mirrored while an attempt works in it, when a turn ends, and when the attempt ends. The transcript comes last, because it
 * refers to the other files. A crash at any moment loses at most what was added last, and the next time catches up.
 * Nothing here fails a run: an error is logged.
 *
 * Invariants: a session that was deleted through Reprise is not mirrored and has no mirror. An id that could be a path is
 * refused. No link is followed, except to the transcript itself; in a folder that an agent in a sandbox can write, none at
 * all, also if the agent makes it in the meantime.
 */
import { randomUUID } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { AgentRegistry } from '../../agents/registry.ts'
import { SessionId } from '../../contract/ids.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { KeyedLock } from '../base/keyed-lock.ts'
import type { Log } from '../base/log.ts'
import { type Chain, findChain, groupChunks } from './chunks.ts'
import { type FileState, mirrorFile, readMirrored, type SourceOptions } from './mirrored-file.ts'

export interface MirrorDeps {
  store: Pick<Store, 'getSession'>
  agents: Pick<AgentRegistry, 'find'>
  log: Log
  /** The folder with the mirrors of all sessions. */
  mirror: string
  settings: { keep: { transcriptsMs: number } }
}

export type MirroredSession = Pick<SessionRecord, 'id' | 'agentSessionId'>

export interface MirroredFile {
  /** The path in the folder of the session; empty for the transcript. */
  path: readonly string[]
  dir: string
  name: string
  chain: Chain
}

export interface MirrorDirs {
  dir: string
  /** The name of the transcript in `dir`. */
  transcript: string
  /** The folder for the other files of the session. */
  files: string
}

const TRANSCRIPT = 'transcript'
const FILES = 'files'
const REMOVING = '.removing-'
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
const MAX_STATES = 2000
/** A session folder with more files, or deeper ones, is not mirrored completely. */
const MAX_FILES = 10_000
const MAX_DEPTH = 8
/** Larger files are not mirrored: an agent in a sandbox could make one of any size. */
const MAX_FILE_BYTES = 2 ** 30

export class Mirror {
  readonly #deps: MirrorDeps
  readonly #lock = new KeyedLock()
  readonly #states = new Map<string, FileState>()

  constructor(deps: MirrorDeps) {
    this.#deps = deps
  }

  /**
   * Copies what the files of the session have more than their mirror. `agentSessionIds` are those that the agent used in
   * an attempt; by default the one that is known. Returns whether the mirror has all there is to copy. Calls for one
   * session are carried out in their order. Never rejects.
   */
  async catchUp(
    id: SessionId,
    agentSessionIds?: readonly string[],
    options: Pick<SourceOptions, 'trustSize'> = {},
  ): Promise<boolean> {
    if (this.#deps.settings.keep.transcriptsMs === 0) return true
    return this.#lock.run(id, () => this.#catchUp(id, agentSessionIds, options))
  }

  async #catchUp(
    id: SessionId,
    agentSessionIds: readonly string[] | undefined,
    options: Pick<SourceOptions, 'trustSize'>,
  ): Promise<boolean> {
    const { store, agents, log } = this.#deps
    try {
      const session = await store.getSession(id)
      // The location of the files is unknown for an agent that is not configured any more.
      const agent = session && agents.find(session.agent)
      if (!agent) return true
      for (const agentSessionId of new Set(agentSessionIds ?? [session.agentSessionId])) {
        const files = await agent.adapter.locateSession(agentSessionId, agent.env, session.workDir)
        const place = this.placeOf({ id, agentSessionId })
        if (!files || place === null) continue
        const { noLinks = false } = files
        const dir = noLinks ? await realpath(dirname(files.transcript)) : dirname(files.transcript)
        const sourceOf = (path: string) => join(dir, basename(path))
        if (files.folder) await this.#copyFolder(sourceOf(files.folder), place.files, { ...options, noLinks })
        await this.#copyFile(sourceOf(files.transcript), place.dir, place.transcript, {
          ...options,
          noLinks,
          followLink: !noLinks,
        })
      }
    } catch (error) {
      log.error({ session: id, error: String(error) }, 'could not mirror a session')
      return false
    }
    return true
  }

  /** The mirrored files of a session, the transcript last. Empty if the transcript is not mirrored. */
  async list(session: MirroredSession): Promise<MirroredFile[]> {
    const place = this.placeOf(session)
    const transcript = place && (await listChains(place.dir)).find(({ name }) => name === place.transcript)
    if (!transcript) return []
    return [...(await listFolder(place.files, [])), { ...transcript, path: [] }]
  }

  /** Returns null if the transcript is not mirrored. Reading fails if the mirror is damaged. */
  async readTranscript(session: MirroredSession): Promise<AsyncIterable<Buffer> | null> {
    const transcript = (await this.list(session)).at(-1)
    return transcript ? readMirrored(transcript, transcript.chain) : null
  }

  /** Where the mirrored transcript is, and its compressed size. */
  async findTranscript(session: MirroredSession): Promise<{ path: string; bytes: number } | null> {
    const transcript = (await this.list(session)).at(-1)
    if (!transcript) return null
    const sizes = await Promise.all(
      transcript.chain.chunks.map(async ({ file }) => (await stat(join(transcript.dir, file))).size),
    )
    return { path: transcript.dir, bytes: sizes.reduce((sum, size) => sum + size, 0) }
  }

  /** The sessions that have a mirror. */
  async listSessions(): Promise<SessionId[]> {
    return (await listDir(this.#deps.mirror)).map(({ name }) => name).filter((name) => SessionId.is(name))
  }

  /** The compressed size of all files of a session. */
  async sizeOf(id: SessionId): Promise<number> {
    const entries = await readdir(join(this.#deps.mirror, id), {
      recursive: true,
      withFileTypes: true,
    }).catch(() => [])
    const sizes = entries.map(async (entry) =>
      entry.isFile() ? (await stat(join(entry.parentPath, entry.name)).catch(() => null))?.size : 0,
    )
    return (await Promise.all(sizes)).reduce<number>((sum, size) => sum + (size ?? 0), 0)
  }

  /** Deletes the mirror of a session. It is renamed first, so that a crash cannot leave half of it. */
  async remove(id: SessionId): Promise<void> {
    const { mirror } = this.#deps
    await this.#lock.run(id, async () => {
      for (const key of this.#states.keys())
        if (key.startsWith(`${join(mirror, id)}/`)) this.#states.delete(key)
      const away = join(mirror, `${REMOVING}${id}-${randomUUID()}`)
      const renamed = await rename(join(mirror, id), away).then(() => true, ignoreMissing)
      if (renamed) await rm(away, { recursive: true, force: true })
    })
  }

  /** Finishes removals that a crash interrupted. */
  async tidy(): Promise<void> {
    const { mirror } = this.#deps
    for (const { name } of await listDir(mirror))
      if (name.startsWith(REMOVING)) await rm(join(mirror, name), { recursive: true, force: true })
  }

  /** Where the files of a session are mirrored. null: the id could be a path. */
  placeOf({ id, agentSessionId }: MirroredSession): MirrorDirs | null {
    if (!SAFE_NAME.test(agentSessionId)) return null
    const dir = join(this.#deps.mirror, id, agentSessionId)
    return { dir, transcript: TRANSCRIPT, files: join(dir, FILES) }
  }

  async #copyFolder(from: string, to: string, options: Omit<SourceOptions, 'followLink'>): Promise<void> {
    const found = await listFiles(from, MAX_FILES, MAX_DEPTH)
    if (found.length === MAX_FILES)
      this.#deps.log.warn({ folder: from }, 'a session has too many files to mirror all of them')
    for (const path of found) {
      const target = join(to, ...path)
      const name = path.at(-1) as string
      await this.#copyFile(join(from, ...path), dirname(target), name, { ...options, followLink: false })
    }
  }

  async #copyFile(source: string, dir: string, name: string, options: SourceOptions): Promise<void> {
    const key = join(dir, name)
    const size = (await stat(source).catch(() => null))?.size ?? 0
    if (size > MAX_FILE_BYTES) {
      this.#deps.log.warn({ file: source, size }, 'a file of a session is too large to be mirrored')
      return
    }
    const state = await mirrorFile(source, { dir, name }, this.#states.get(key) ?? null, options)
    this.#states.delete(key)
    if (state) this.#states.set(key, state)
    const oldest = this.#states.size > MAX_STATES ? this.#states.keys().next().value : undefined
    if (oldest !== undefined) this.#states.delete(oldest)
  }
}

/** A file that is being written, to replace another at once. */
const TEMPORARY = /\.tmp(\.\w+)?$/

/** The paths of regular files in a folder, without links. */
async function listFiles(folder: string, max: number, depth: number): Promise<string[][]> {
  const files: string[][] = []
  for (const entry of await listDir(folder)) {
    if (files.length >= max) break
    if (TEMPORARY.test(entry.name)) continue
    if (entry.isFile()) files.push([entry.name])
    else if (entry.isDirectory() && depth > 0) {
      const inner = await listFiles(join(folder, entry.name), max - files.length, depth - 1)
      files.push(...inner.map((path) => [entry.name, ...path]))
    }
  }
  return files
}

async function listChains(dir: string): Promise<Omit<MirroredFile, 'path'>[]> {
  const names = (await listDir(dir)).filter((entry) => entry.isFile()).map(({ name }) => name)
  return [...groupChunks(names)].flatMap(([name, chunks]) => {
    const chain = findChain(chunks)
    return chain ? [{ dir, name, chain }] : []
  })
}

async function listFolder(dir: string, path: readonly string[]): Promise<MirroredFile[]> {
  const own = (await listChains(dir)).map((file) => ({ ...file, path: [...path, file.name] }))
  const folders = (await listDir(dir)).filter((entry) => entry.isDirectory())
  const inner = await Promise.all(folders.map(({ name }) => listFolder(join(dir, name), [...path, name])))
  return [...own, ...inner.flat()]
}

const listDir = (dir: string): Promise<Dirent[]> =>
  readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    ignoreMissing(error)
    return []
  })

function ignoreMissing(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false
  throw error
}
