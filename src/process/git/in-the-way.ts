/**
 * Finds what occupies the paths of a checkpoint's files without being part of the capture: ignored files, which can be
 * saved first, and repositories, which cannot.
 */
import { readdir } from 'node:fs/promises'
import { ancestors, look, onDisk, type RawPath } from './paths.ts'
import { type Change, isGitlink } from './tree-diff.ts'

export interface InTheWay {
  files: RawPath[]
  repositories: RawPath[]
}

/** `changes` lead from the captured tree to the checkpoint. */
export async function findInTheWay(top: string, changes: readonly Change[]): Promise<InTheWay> {
  const captured = new Set(changes.filter(({ before }) => before !== null).map(({ path }) => path))
  const found = { files: new Set<RawPath>(), repositories: new Set<RawPath>() }
  const clear = new Set<RawPath>()

  /** Returns false if nothing below the folder can be in the way. */
  const enter = async (folder: RawPath): Promise<boolean> => {
    if (clear.has(folder)) return true
    const stats = await look(top, folder)
    if (stats === null) return false
    if (!stats.isDirectory()) {
      if (!captured.has(folder)) found.files.add(folder)
      return false
    }
    if ((await look(top, `${folder}/.git`)) !== null) {
      found.repositories.add(folder)
      return false
    }
    clear.add(folder)
    return true
  }

  /** Adds the path itself, or everything in the folder of that name. */
  const take = async (path: RawPath): Promise<void> => {
    const stats = await look(top, path)
    if (stats === null) return
    if (!stats.isDirectory()) {
      if (!captured.has(path)) found.files.add(path)
      return
    }
    if (!(await enter(path))) return
    for (const name of await readdir(onDisk(top, path), 'buffer')) {
      await take(`${path}/${name.toString('latin1')}`)
    }
  }

  for (const { path, before, after } of changes) {
    if (after === null || isGitlink(after)) continue
    if (isGitlink(before)) found.repositories.add(path)
    else if (before === null) {
      let reachable = true
      for (const folder of ancestors(path)) reachable &&= await enter(folder)
      if (reachable) await take(path)
    }
  }
  return { files: [...found.files], repositories: [...found.repositories] }
}
