/**
 * Keeps the index of an earlier capture as `<git dir>/reprise/index-<tree>`, so that files that have not changed since
 * need not be read again. It is used only while a checkpoint has exactly that tree: then its objects are reachable, and
 * `git gc` cannot have removed them.
 *
 * Git detects a file that was changed in the same instant in which the index was written by comparing the file's time
 * with that of the index file. A copy must therefore not look newer than the original: it is made to look older, which
 * is safe.
 */
import { createHash } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openUntrusted } from '../../files/untrusted.ts'
import { newDraft, ownDir } from './own-dir.ts'
import { inRepository, type WorkTree } from './work-tree.ts'

const PREFIX = 'index-'

/** Does nothing if there is an index already. */
export async function seedIndex(workTree: WorkTree, index: string): Promise<void> {
  if (existsSync(index)) return
  const names = await cached(workTree)
  if (names.length === 0) return
  const kept = await checkpointTrees(workTree)
  const name = names.find((candidate) => kept.has(candidate.slice(PREFIX.length)))
  if (name === undefined) return
  try {
    await copyAged(join(ownDir(workTree), name), index)
    if (await isWhole(index, workTree)) return
  } catch {
    // Another capture may have replaced the file just now.
  }
  await rm(index, { force: true })
}

/** Best effort: without the kept index, the next capture is slower. */
export async function keepIndex(workTree: WorkTree, index: string, tree: string): Promise<void> {
  let draft: string | null = null
  try {
    draft = await newDraft(workTree)
    await copyAged(index, draft)
    await rename(draft, join(ownDir(workTree), PREFIX + tree))
    await dropOthers(workTree, tree)
  } catch {
    // The repository is read-only or the disk is full. The capture itself has succeeded.
    if (draft !== null) await rm(draft, { force: true }).catch(() => {})
  }
}

/** Keeps two: the newest, and the previous one, which stays in use if no checkpoint is made from the newest. */
async function dropOthers(workTree: WorkTree, newest: string): Promise<void> {
  const kept = await checkpointTrees(workTree)
  const others = (await cached(workTree)).filter((name) => name !== PREFIX + newest)
  const inUse = others.find((name) => kept.has(name.slice(PREFIX.length)))
  for (const name of others) if (name !== inUse) await rm(join(ownDir(workTree), name), { force: true })
}

async function copyAged(from: string, to: string): Promise<void> {
  const source = await openUntrusted(from)
  if (source === null) throw new Error(`${from} is not a file`)
  const { mtimeMs } = await source.stat()
  await pipeline(source.createReadStream(), createWriteStream(to, { mode: 0o600 }))
  const file = await open(to, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
  const seconds = Math.floor(mtimeMs / 1000) - 1
  await utimes(to, seconds, seconds)
}

/** Git does not verify the checksum at the end, and would read a truncated index as a short one. */
async function isWhole(path: string, { objectFormat }: WorkTree): Promise<boolean> {
  const bytes = await readFile(path)
  const length = objectFormat === 'sha256' ? 32 : 20
  const sum = createHash(objectFormat).update(bytes.subarray(0, -length)).digest()
  return bytes.length > length && sum.equals(bytes.subarray(-length))
}

/** Newest first. */
async function cached(workTree: WorkTree): Promise<string[]> {
  const dir = ownDir(workTree)
  const names = (await readdir(dir).catch(() => [])).filter((name) => name.startsWith(PREFIX))
  const times = await Promise.all(names.map((name) => stat(join(dir, name)).catch(() => null)))
  return names
    .map((name, i) => ({ name, at: times[i]?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at)
    .map(({ name }) => name)
}

async function checkpointTrees(workTree: WorkTree): Promise<Set<string>> {
  const { stdout } = await inRepository(workTree, {
    args: ['for-each-ref', '--format=%(tree)', 'refs/reprise/'],
    what: 'could not list checkpoints',
  })
  return new Set(stdout.toString().split('\n').filter(Boolean))
}
