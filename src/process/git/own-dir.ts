/**
 * `<git dir>/reprise/` holds what belongs to this work tree alone. The name of a draft contains the pid of its process.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { identify } from '../proc.ts'
import type { WorkTree } from './work-tree.ts'

export const ownDir = (workTree: WorkTree) => join(workTree.gitDir, 'reprise')

/** Returns a new unique path. Also removes the drafts of dead processes. */
export async function newDraft(workTree: WorkTree): Promise<string> {
  const dir = ownDir(workTree)
  await mkdir(dir, { recursive: true })
  for (const name of await readdir(dir)) {
    const [, pid] = /^draft-(\d+)-/.exec(name) ?? []
    if (pid && !identify(Number(pid))) await rm(join(dir, name), { recursive: true, force: true })
  }
  return join(dir, `draft-${process.pid}-${randomUUID()}`)
}
