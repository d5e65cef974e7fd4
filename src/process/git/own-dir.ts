/** `<git dir>/reprise/`: what belongs to this work tree alone. Drafts in it bear the pid of who makes them. */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { identify } from '../proc.ts'
import type { WorkTree } from './work-tree.ts'

export const ownDir = (workTree: WorkTree) => join(workTree.gitDir, 'reprise')

/** A path that nobody else uses. Also takes away what processes that died have left. */
export async function newDraft(workTree: WorkTree): Promise<string> {
  const dir = ownDir(workTree)
  await mkdir(dir, { recursive: true })
  for (const name of await readdir(dir)) {
    const [, pid] = /^draft-(\d+)-/.exec(name) ?? []
    if (pid && !identify(Number(pid))) await rm(join(dir, name), { recursive: true, force: true })
  }
  return join(dir, `draft-${process.pid}-${randomUUID()}`)
}
