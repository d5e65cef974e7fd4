/** Compares two trees path by path. A rename is a removed file and an added file. */
import type { ChangedPath } from '../../core/checkpoint/findings.ts'
import { forPeople, type RawPath } from './paths.ts'
import { inRepository, objectId, type WorkTree } from './work-tree.ts'

export interface Change {
  path: RawPath
  /** null: the path does not exist on that side. */
  before: TreeEntry | null
  after: TreeEntry | null
}

export interface TreeEntry {
  mode: string
  oid: string
}

export const isGitlink = (entry: TreeEntry | null) => entry?.mode === '160000'

export async function diffTrees(workTree: WorkTree, from: string, to: string): Promise<Change[]> {
  const { stdout } = await inRepository(workTree, {
    args: [
      'diff-tree',
      '-r',
      '-z',
      '--raw',
      '--no-renames',
      '--no-abbrev',
      objectId(from),
      objectId(to),
      '--',
    ],
    what: 'could not compare with the checkpoint',
  })
  const fields = stdout.toString('latin1').split('\0')
  const changes: Change[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = fields[i]?.slice(1).split(' ') ?? []
    const entry = (mode: string, oid: string) => (/^0+$/.test(mode) ? null : { mode, oid })
    changes.push({ path: fields[i + 1] ?? '', before: entry(oldMode, oldOid), after: entry(newMode, newOid) })
  }
  return changes
}

export function describeChange({ path, before, after }: Change): ChangedPath {
  return { status: statusOf(before, after), path: forPeople(path) }
}

function statusOf(before: TreeEntry | null, after: TreeEntry | null): ChangedPath['status'] {
  if (before === null) return 'added'
  if (after === null) return 'deleted'
  // 100644 and 100755 are both files; 120000 is a symlink, 160000 a repository.
  return before.mode.slice(0, 3) === after.mode.slice(0, 3) ? 'modified' : 'type-changed'
}
