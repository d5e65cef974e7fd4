/**
 * Moves prepared files into the work tree and removes others. Every path is reached through real folders only: a
 * symlink in place of a folder is an error, so nothing outside the work tree is touched.
 */
import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import {
  chmod,
  copyFile,
  lchown,
  mkdir,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises'
import { GitError } from './error.ts'
import { ancestors, forPeople, look, onDisk, type RawPath } from './paths.ts'
import type { Change } from './tree-diff.ts'

export interface Applied {
  written: number
  removed: number
}

export async function applyChanges(top: string, stage: string, changes: readonly Change[]): Promise<Applied> {
  const gone = changes.filter(({ after }) => after === null)
  const come = changes.filter(({ after }) => after !== null)
  try {
    for (const { path } of gone) await remove(top, path)
    for (const { path } of come) await place(top, stage, path)
  } catch (error) {
    if (error instanceof GitError) throw error
    const cause = error as NodeJS.ErrnoException
    throw new GitError(
      cause.code === 'ENOSPC' ? 'disk-full' : 'changing',
      `could not restore: ${cause.message}`,
      {
        hint: 'The previous state is saved as a checkpoint. Run the restore again.',
        cause,
      },
    )
  }
  return { written: come.length, removed: gone.length }
}

async function remove(top: string, path: RawPath): Promise<void> {
  const folders = ancestors(path)
  for (const folder of folders) {
    const stats = await look(top, folder)
    if (stats === null) return
    requireFolder(folder, stats)
  }
  await unlink(onDisk(top, path)).catch(ignore('ENOENT'))
  for (const folder of folders.toReversed()) {
    const emptied = await rmdir(onDisk(top, folder)).then(
      () => true,
      ignore('ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY'),
    )
    if (!emptied) return
  }
}

async function place(top: string, stage: string, path: RawPath): Promise<void> {
  for (const folder of ancestors(path)) {
    const stats = await look(top, folder)
    if (stats === null) await mkdir(onDisk(top, folder))
    else requireFolder(folder, stats)
  }
  const there = await look(top, path)
  if (there?.isDirectory()) await removeEmpty(top, path)
  else if (there) await keepRights(stage, path, there)
  await move(onDisk(stage, path), onDisk(top, path), onDisk(top, `${parentOf(path)}.reprise-${randomUUID()}`))
}

const parentOf = (path: RawPath) => path.slice(0, path.lastIndexOf('/') + 1)

/**
 * A checkpoint stores only whether a file is executable. All other permissions and the owner of the existing file are
 * kept.
 */
async function keepRights(stage: string, path: RawPath, there: Stats): Promise<void> {
  const staged = await look(stage, path)
  if (staged === null) return
  // Only root may change the owner of a file; for everybody else the owner is the same.
  if (staged.uid !== there.uid || staged.gid !== there.gid) {
    await lchown(onDisk(stage, path), there.uid, there.gid).catch(() => {})
  }
  if (!staged.isFile() || !there.isFile()) return
  const rights = there.mode & 0o666
  await chmod(onDisk(stage, path), staged.mode & 0o100 ? rights | ((rights & 0o444) >> 2) : rights)
}

/** The files in the folder have been removed already. Folders that were always empty are not part of any checkpoint. */
async function removeEmpty(top: string, folder: RawPath): Promise<void> {
  for (const name of await readdir(onDisk(top, folder), 'buffer')) {
    const path = `${folder}/${name.toString('latin1')}`
    if ((await look(top, path))?.isDirectory()) await removeEmpty(top, path)
  }
  await rmdir(onDisk(top, folder))
}

/** Falls back to a copy, because the work tree may be on another file system than its git directory. */
async function move(from: Buffer, to: Buffer, draft: Buffer): Promise<void> {
  const moved = await rename(from, to).then(() => true, ignore('EXDEV'))
  if (moved) return
  const target = await readlink(from, 'buffer').catch(() => null)
  if (target) await symlink(target, draft)
  else await copyFile(from, draft)
  await rename(draft, to)
}

function requireFolder(path: RawPath, stats: Stats): void {
  if (stats.isDirectory()) return
  throw new GitError(
    'changing',
    `could not restore: ${JSON.stringify(forPeople(path))} is no longer a folder`,
    {
      hint: 'The previous state is saved as a checkpoint. Run the restore again.',
    },
  )
}

const ignore =
  (...codes: string[]) =>
  (error: NodeJS.ErrnoException): false => {
    if (codes.includes(error.code ?? '')) return false
    throw error
  }
