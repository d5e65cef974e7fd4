/**
 * Mirrors one file, and reads the mirror. What has been added to the file since the last time is copied. Whether the file
 * only grew is checked: while it has the same inode, by its size and the last bytes before the known end; otherwise, and
 * the first time in the life of a daemon, by comparing all of it.
 *
 *   grew                                  the new bytes are added
 *   is the beginning of its mirror        nothing happens: the file was cut off, or an older copy was put in its place
 *   differs from its mirror               it is copied again, as a new generation; then the old one is deleted
 */
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, readlink, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { absorbedBy, type Chain, type Chunk, chunkName, findChain, groupChunks } from './chunks.ts'

/** The largest chunk, uncompressed; so memory stays flat for long files. */
const CHUNK_BYTES = 4 << 20
const TAIL_BYTES = 1024
const PARTIAL = '.partial'

/** Where the mirror of a file is: the folder, and the name in it. */
export interface MirrorPlace {
  dir: string
  name: string
}

/** The facts about a file that was compared before. */
export interface FileState {
  /** The length of its mirror. */
  to: number
  dev: number
  ino: number
  mtimeMs: number
  tail: Buffer
}

export interface SourceOptions {
  /** Whether the last part of the path may be a symbolic link. */
  followLink: boolean
  /**
   * The path is real. A file that is opened by it but is elsewhere is not mirrored: an agent has put a link into the path
   * since it was looked at.
   */
  noLinks?: boolean
  /** A file whose size is that of its mirror counts as mirrored, without comparing. */
  trustSize?: boolean
}

/** Returns the new state, or null if the file does not exist or is not a regular file. */
export async function mirrorFile(
  source: string,
  place: MirrorPlace,
  known: FileState | null,
  { followLink, noLinks = false, trustSize = false }: SourceOptions,
): Promise<FileState | null> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (followLink ? 0 : constants.O_NOFOLLOW)
  const file = await open(source, flags).catch(ignoreAbsent)
  if (!file) return null
  try {
    const stat = await file.stat()
    if (!stat.isFile() || (noLinks && (await readlink(`/proc/self/fd/${file.fd}`)) !== source)) return null
    const { size, dev, ino, mtimeMs } = stat
    const chain = await readChain(place)
    // The mirror may have been deleted by somebody since.
    const isKnown = known !== null && chain !== null && known.to === chain.to
    const isSame = isKnown && known.dev === dev && known.ino === ino
    if (isSame && size === known.to && mtimeMs === known.mtimeMs) return known
    if (chain && trustSize && !isSame && chain.to === size) return null
    const grew = isSame && size > known.to && (await hasTail(file, known))
    const relation = chain === null ? 'differs' : grew ? 'grew' : await compare(file, size, place, chain)
    const target = { file, size, place }
    const now =
      relation === 'shorter' || chain === null
        ? (chain ?? (await copyAnew(target, 1)))
        : relation === 'grew'
          ? await append(target, chain)
          : await copyAnew(target, chain.generation + 1)
    return {
      to: now.to,
      dev,
      ino,
      mtimeMs,
      tail: await readAt(file, Math.max(0, now.to - TAIL_BYTES), now.to),
    }
  } finally {
    await file.close()
  }
}

/** The chain of a file in the mirror, or null. Deletes what a crash left. */
async function readChain({ dir, name }: MirrorPlace): Promise<Chain | null> {
  const entries = await readdir(dir).catch(ignoreAbsent)
  if (!entries) return null
  const chunks = groupChunks(entries).get(name) ?? []
  const chain = findChain(chunks)
  const leftovers = [
    ...chunks.filter((chunk) => !chain?.chunks.includes(chunk)).map(({ file }) => file),
    ...entries.filter((entry) => entry.startsWith(`${name}.`) && entry.endsWith(PARTIAL)),
  ]
  for (const entry of leftovers) await rm(join(dir, entry), { force: true })
  return chain
}

interface Target {
  file: FileHandle
  size: number
  place: MirrorPlace
}

async function append({ file, size, place }: Target, before: Chain): Promise<Chain> {
  let chain = before
  while (chain.to < size) {
    const added = Math.min(size - chain.to, CHUNK_BYTES)
    const absorbed = absorbedBy(chain, added, CHUNK_BYTES)
    const from = absorbed[0]?.from ?? chain.to
    const bytes = await readAt(file, from, chain.to + added)
    // The file was cut off while it was read: the next look finds that out.
    if (from + bytes.length <= chain.to) break
    const chunk = await writeChunk(place, bytes, { generation: chain.generation, from })
    await publish(place.dir, [chunk])
    for (const { file: old } of absorbed) await rm(join(place.dir, old), { force: true })
    const kept = chain.chunks.slice(0, chain.chunks.length - absorbed.length)
    chain = { ...chain, chunks: [...kept, chunk], to: chunk.to }
  }
  return chain
}

/** Copies the whole file. The first chunk appears last: with it the generation is complete, and others can be deleted. */
async function copyAnew({ file, size, place }: Target, generation: number): Promise<Chain> {
  const chunks: Chunk[] = []
  // One buffer for all chunks: many large ones would be collected late.
  const buffer = Buffer.allocUnsafe(Math.min(size, CHUNK_BYTES))
  let from = 0
  do {
    const bytes = await readAt(file, from, Math.min(size, from + CHUNK_BYTES), buffer)
    chunks.push(await writeChunk(place, bytes, { generation, from }))
    if (bytes.length === 0) break
    from += bytes.length
  } while (from < size)
  await publish(place.dir, chunks.toReversed())
  const own = new Set(chunks.map((chunk) => chunk.file))
  const others = groupChunks(await readdir(place.dir)).get(place.name) ?? []
  for (const { file: old } of others) if (!own.has(old)) await rm(join(place.dir, old), { force: true })
  return { generation, chunks, to: from }
}

/** Writes a chunk to the disk under a name that does not count yet. */
async function writeChunk(
  { dir, name }: MirrorPlace,
  bytes: Buffer,
  { generation, from }: Pick<Chunk, 'generation' | 'from'>,
): Promise<Chunk> {
  const range = { generation, from, to: from + bytes.length }
  const chunk = { file: chunkName(name, range), ...range }
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const packed = await promisify(gzip)(bytes)
  const file = await open(join(dir, chunk.file + PARTIAL), 'w', 0o600)
  try {
    await file.writeFile(packed)
    await file.datasync()
  } finally {
    await file.close()
  }
  return chunk
}

async function publish(dir: string, chunks: readonly Chunk[]): Promise<void> {
  for (const { file } of chunks) await rename(join(dir, file + PARTIAL), join(dir, file))
}

/** `shorter`: the file equals the beginning of its mirror. */
async function compare(
  file: FileHandle,
  size: number,
  { dir }: MirrorPlace,
  chain: Chain,
): Promise<'grew' | 'shorter' | 'differs'> {
  for (const chunk of chain.chunks) {
    if (chunk.from >= size && size < chain.to) break
    // A damaged chunk is replaced while the file itself is still there.
    const mirrored = await readChunk(dir, chunk).catch(() => null)
    const own = await readAt(file, chunk.from, Math.min(chunk.to, size))
    if (!mirrored?.subarray(0, own.length).equals(own)) return 'differs'
  }
  return size < chain.to ? 'shorter' : 'grew'
}

/** A tail that is too short was read from a file that had been cut off, and says nothing. */
async function hasTail(file: FileHandle, { to, tail }: FileState): Promise<boolean> {
  if (tail.length < Math.min(to, TAIL_BYTES)) return false
  return tail.equals(await readAt(file, to - tail.length, to))
}

/** Rejects if the chunk is damaged. */
async function readChunk(dir: string, { file, from, to }: Chunk): Promise<Buffer> {
  const bytes = await promisify(gunzip)(await readFile(join(dir, file)), { maxOutputLength: to - from + 1 })
  if (bytes.length !== to - from)
    throw new Error(`${file} holds ${bytes.length} bytes instead of ${to - from}`)
  return bytes
}

/** The content of a mirrored file, chunk by chunk. Rejects if a chunk is damaged. */
export async function* readMirrored({ dir }: MirrorPlace, chain: Chain): AsyncGenerator<Buffer> {
  for (const chunk of chain.chunks) yield await readChunk(dir, chunk)
}

/** With `into`, the result is a part of that buffer, which the next call overwrites. */
async function readAt(file: FileHandle, from: number, to: number, into?: Buffer): Promise<Buffer> {
  const length = Math.max(0, to - from)
  const buffer = into ?? Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

/** ELOOP: a symbolic link, where none may be. */
function ignoreAbsent(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(error.code ?? '')) return null
  throw error
}
