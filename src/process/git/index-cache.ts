/**
 * The index of an earlier capture, `<git dir>/reprise/index-<tree>`, spares reading files that have not changed since. It is
 * used only while a checkpoint has that very tree: then what it names is reachable, and no `git gc` can have taken it away.
 *
 * Git recognises a file that was changed in the same instant in which the index was written by comparing its time with that
 * of the index file. A copy must therefore not look newer than the original: it is made to look older, which is safe.
 */
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { inRepository, type WorkTree } from './work-tree.ts'

const PREFIX = 'index-'

export const ownDir = (workTree: WorkTree) => join(workTree.gitDir, 'reprise')

/** Leaves an index alone that is there already. */
export async function seedIndex(workTree: WorkTree, index: string): Promise<void> {
  if (existsSync(index)) return
  const names = await cached(workTree)
  if (names.length === 0) return
  const kept = await checkpointTrees(workTree)
  const name = names.find((candidate) => kept.has(candidate.slice(PREFIX.length)))
  if (name !== undefined) await copyAged(join(ownDir(workTree), name), index)
}

/** Best effort: without it the next capture is slower. */
export async function keepIndex(workTree: WorkTree, index: string, tree: string): Promise<void> {
  try {
    const dir = ownDir(workTree)
    const kept = await checkpointTrees(workTree)
    await mkdir(dir, { recursive: true })
    const draft = join(dir, `draft-${process.pid}-${tree}`)
    if (!(await copyAged(index, draft))) return
    await rename(draft, join(dir, PREFIX + tree))
    for (const name of await cached(workTree)) {
      const of = name.slice(PREFIX.length)
      if (of !== tree && !kept.has(of)) await rm(join(dir, name), { force: true })
    }
    await dropOldest(workTree, tree)
  } catch {
    // A read-only repository, a full disk: the capture itself has succeeded.
  }
}

async function dropOldest(workTree: WorkTree, newest: string): Promise<void> {
  const others = (await cached(workTree)).filter((name) => name !== PREFIX + newest)
  // The newest, and one that was in use until now and stays so if no checkpoint comes of the newest.
  for (const name of others.slice(1)) await rm(join(ownDir(workTree), name), { force: true })
}

async function copyAged(from: string, to: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(from)
    await copyFile(from, to)
    const seconds = Math.floor(mtimeMs / 1000) - 1
    await utimes(to, seconds, seconds)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
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
