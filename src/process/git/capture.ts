/**
 * Captures the work tree as a git tree: every file that is tracked or not ignored, byte for byte, through the index of
 * a shadow.
 *
 * The user's index is consulted only where the disk has no answer: which ignored files are tracked, which tracked files
 * are absent on purpose (sparse checkout), which folders are submodules that were never checked out. Unmerged entries,
 * intent to add, assume-unchanged and the like therefore make no difference. A repository inside the work tree is
 * recorded as the commit it is at.
 */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from './error.ts'
import { keepIndex, seedIndex } from './index-cache.ts'
import { forPeople, isFileWithin, joinNul, look, onDisk, type RawPath, splitNul } from './paths.ts'
import { findRepository, readRef } from './repository.ts'
import { type Shadow, withShadow } from './shadow.ts'
import { inRepository, type WorkTree } from './work-tree.ts'

/**
 * Returns the tree's id. The tree is in the object store, but only a checkpoint protects it from garbage collection.
 */
export async function captureTree(workTree: WorkTree): Promise<string> {
  return withShadow(workTree, (shadow) => captureIn(shadow))
}

/** `also`: ignored files to capture nevertheless. A second call in the same shadow reads only what has changed. */
export async function captureIn(shadow: Shadow, also: readonly RawPath[] = []): Promise<string> {
  const { workTree } = shadow
  await seedIndex(workTree, shadow.index)
  const tracked = await readTracked(shadow)
  if (existsSync(shadow.index)) await forget(shadow, new Set([...tracked.ignored, ...also]))
  await addFiles(shadow, [...tracked.ignored, ...also])
  await addEntries(shadow, tracked)
  const { stdout } = await shadow.run({
    // In a sparse checkout of a partial clone, objects may be missing.
    args: ['write-tree', '--missing-ok'],
    what: 'could not save the work tree',
  })
  const tree = stdout.toString().trim()
  await keepIndex(workTree, shadow.index, tree)
  return tree
}

interface Tracked {
  ignored: RawPath[]
  /** Tracked files that a sparse checkout leaves out. */
  skipped: Entry[]
  gitlinks: Entry[]
}

interface Entry {
  mode: string
  oid: string
  path: RawPath
}

const GITLINK = '160000'

async function readTracked({ workTree, exclude }: Shadow): Promise<Tracked> {
  const list = async (...args: string[]) => {
    const what = 'could not read the index'
    return splitNul((await inRepository(workTree, { args: ['ls-files', '-z', ...args], what })).stdout)
  }
  const entries = (await list('--stage', '-v')).flatMap((line) => {
    const [, tag, mode, oid, stage, path] = /^(.) (\d+) ([0-9a-f]+) (\d)\t(.*)$/s.exec(line) ?? []
    return tag && mode && oid && stage === '0' && path ? [{ tag, mode, oid, path }] : []
  })
  return {
    ignored: await list('--cached', '--ignored', '--exclude-standard', `--exclude-from=${exclude}`),
    skipped: entries.filter(({ tag, mode }) => tag.toUpperCase() === 'S' && mode !== GITLINK),
    gitlinks: entries.filter(({ mode }) => mode === GITLINK),
  }
}

/**
 * Removes entries of an earlier capture that this one must decide about again: files that are ignored now,
 * repositories, and files that have been replaced by a folder. Such a folder may be a repository, which git does not
 * list while its index has a file of that name.
 */
async function forget(shadow: Shadow, wanted: ReadonlySet<RawPath>): Promise<void> {
  const list = async (...args: string[]) => {
    const what = 'could not read our own index'
    return splitNul((await shadow.run({ args, what })).stdout)
  }
  const ignored = await list('ls-files', '-z', '--cached', '--ignored', '--exclude-standard')
  const drop = ignored.filter((path) => !wanted.has(path))
  for (const line of await list('ls-files', '-z', '--stage')) {
    if (line.startsWith(GITLINK)) drop.push(line.slice(line.indexOf('\t') + 1))
  }
  // Without the option, git would run `git status` in repositories inside the work tree, with their configuration.
  const changed = ['diff-files', '-z', '--name-only', '--no-renames', '--ignore-submodules=all']
  for (const path of await list(...changed)) {
    if ((await look(shadow.workTree.top, path))?.isDirectory()) drop.push(path)
  }
  if (drop.length === 0) return
  await shadow.run({
    args: ['update-index', '-z', '--force-remove', '--stdin'],
    input: joinNul(drop),
    what: 'could not update the temporary index',
  })
}

const ROUNDS = 4

/** Tries again, because a file may vanish or change while git reads it. */
async function addFiles(shadow: Shadow, ignored: readonly RawPath[]): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      return await addFilesOnce(shadow, ignored)
    } catch (error) {
      if (round === ROUNDS || !(error instanceof GitError) || !TRANSIENT.includes(error.kind)) throw error
    }
  }
}

const TRANSIENT: readonly GitError['kind'][] = ['unreadable', 'failed', 'missing-object']

async function addFilesOnce(shadow: Shadow, ignored: readonly RawPath[]): Promise<void> {
  const what = 'could not save the work tree'
  const others = await shadow.run({ args: ['ls-files', '-z', '--others', '--exclude-standard'], what })
  const repositories = splitNul(others.stdout).filter((path) => path.endsWith('/'))
  const except = repositories.map((path) => `:(exclude,literal)${path.slice(0, -1)}`)
  await shadow.run({
    args: ['add', '--all', '--pathspec-from-file=-', '--pathspec-file-nul'],
    input: joinNul(['.', ...except]),
    what,
  })
  await addGitlinks(shadow, repositories)

  const present: RawPath[] = []
  for (const path of ignored) if (await isFileWithin(shadow.workTree.top, path)) present.push(path)
  if (present.length === 0) return
  await shadow.run({
    args: ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'],
    input: joinNul(present),
    what,
  })
}

async function addGitlinks(shadow: Shadow, folders: readonly RawPath[]): Promise<void> {
  const found: Entry[] = []
  for (const folder of folders) {
    const path = folder.replace(/\/$/, '')
    const oid = await readCommitOf(shadow.workTree, path)
    if (oid !== null) found.push({ mode: GITLINK, oid, path })
  }
  await writeEntries(shadow, found)
}

async function addEntries(shadow: Shadow, { skipped, gitlinks }: Tracked): Promise<void> {
  const { top } = shadow.workTree
  const absent: Entry[] = []
  for (const entry of skipped) if ((await look(top, entry.path)) === null) absent.push(entry)
  for (const entry of gitlinks) {
    if (!(await look(top, entry.path))?.isDirectory()) continue
    const oid = await readCommitOf(shadow.workTree, entry.path)
    if (oid !== null) absent.push({ ...entry, oid })
    // A submodule that was never checked out is not a change.
    else if ((await readdir(onDisk(top, entry.path))).length === 0) absent.push(entry)
  }
  await writeEntries(shadow, absent)
}

async function writeEntries(shadow: Shadow, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return
  await shadow.run({
    args: ['update-index', '-z', '--replace', '--index-info'],
    input: joinNul(entries.map(({ mode, oid, path }) => `${mode} ${oid}\t${path}`)),
    what: 'could not save the work tree',
  })
}

/**
 * The commit that a repository inside the work tree is at; null if it has none. Git is not asked: in that repository it would obey that
 * repository's configuration.
 */
async function readCommitOf({ top, objectFormat }: WorkTree, path: RawPath): Promise<string | null> {
  if ((await look(top, `${path}/.git`)) === null) return null
  const dir = join(top, forPeople(path))
  const repository = findRepository(dir)
  const oid = repository?.top === dir ? readRef(repository, 'HEAD') : null
  return oid?.length === (objectFormat === 'sha256' ? 64 : 40) ? oid : null
}
