/**
 * The index of an earlier capture, `<git dir>/reprise/index-<tree>`, spares reading files that have not changed since. It is
 * used only while a checkpoint has that very tree: then what it names is reachable, and no `git gc` can have taken it away.
 *
 * Git recognises a file that was changed in the same instant in which the index was written by comparing its time with that
 * of the index file. A copy must therefore not look newer than the original: it is made to look older, which is safe.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { newDraft, ownDir } from './own-dir.ts'
import { inRepository, type WorkTree } from './work-tree.ts'

const PREFIX = 'index-'

/** Leaves an index alone that is there already. */
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
    // Another capture may just have replaced it.
  }
  await rm(index, { force: true })
}

/** Best effort: without it the next capture is slower. */
export async function keepIndex(workTree: WorkTree, index: string, tree: string): Promise<void> {
  let draft: string | null = null
  try {
    draft = await newDraft(workTree)
    await copyAged(index, draft)
    await rename(draft, join(ownDir(workTree), PREFIX + tree))
    await dropOthers(workTree, tree)
  } catch {
    // A read-only repository, a full disk: the capture itself has succeeded.
    if (draft !== null) await rm(draft, { force: true }).catch(() => {})
  }
}

/** Two stay: the newest, and the one in use until now, which stays so if no checkpoint comes of the newest. */
async function dropOthers(workTree: WorkTree, newest: string): Promise<void> {
  const kept = await checkpointTrees(workTree)
  const others = (await cached(workTree)).filter((name) => name !== PREFIX + newest)
  const inUse = others.find((name) => kept.has(name.slice(PREFIX.length)))
  for (const name of others) if (name !== inUse) await rm(join(ownDir(workTree), name), { force: true })
}

async function copyAged(from: string, to: string): Promise<void> {
  const { mtimeMs } = await stat(from)
  await copyFile(from, to)
  const file = await open(to, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
  const seconds = Math.floor(mtimeMs / 1000) - 1
  await utimes(to, seconds, seconds)
}

/** Git itself does not look at the sum at its end, and would take half an index for a short one. */
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
