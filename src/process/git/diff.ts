/** The changes between two checkpoints, or since one, for people to read. */
import { captureTree } from './capture.ts'
import { describeChange, diffTrees } from './tree-diff.ts'
import { inRepository, objectId, type WorkTree } from './work-tree.ts'

export interface DiffOptions {
  maxPatchBytes?: number
  maxFiles?: number
}

export interface FileDiff {
  status: 'added' | 'modified' | 'deleted' | 'type-changed'
  path: string
  /** Counts lines; null for binary files. */
  added: number | null
  removed: number | null
}

export interface Diff {
  files: FileDiff[]
  filesTotal: number
  patch: string
  /** The patch was cut after a whole line because it was too long. */
  truncated: boolean
}

const MAX_PATCH_BYTES = 1024 * 1024
const MAX_FILES = 1000

/** `from` and `to` are commits or trees. */
export async function diff(
  workTree: WorkTree,
  from: string,
  to: string | 'work-tree',
  { maxPatchBytes = MAX_PATCH_BYTES, maxFiles = MAX_FILES }: DiffOptions = {},
): Promise<Diff> {
  const end = to === 'work-tree' ? await captureTree(workTree) : to
  const changes = await diffTrees(workTree, from, end)
  const lines = await countLines(workTree, from, end)
  const files = changes.slice(0, maxFiles).map((change) => {
    const { added = null, removed = null } = lines.get(change.path) ?? {}
    return { ...describeChange(change), added, removed }
  })
  return { files, filesTotal: changes.length, ...(await readPatch(workTree, from, end, maxPatchBytes)) }
}

const compare = (from: string, to: string, ...options: string[]) => [
  'diff-tree',
  '-r',
  '--no-renames',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  ...options,
  objectId(from),
  objectId(to),
  '--',
]

async function readPatch(workTree: WorkTree, from: string, to: string, maxBytes: number) {
  const { stdout, cut } = await inRepository(workTree, {
    args: compare(from, to, '--patch', '--src-prefix=a/', '--dst-prefix=b/', '--submodule=short'),
    what: 'could not compare',
    maxBytes,
    cut: true,
  })
  const patch = stdout.toString('utf8', 0, cut ? stdout.lastIndexOf(0x0a) + 1 : stdout.length)
  return { patch, truncated: cut }
}

async function countLines(workTree: WorkTree, from: string, to: string) {
  const call = { args: compare(from, to, '--numstat', '-z'), what: 'could not compare' }
  const { stdout } = await inRepository(workTree, call)
  const counts = new Map<string, { added: number | null; removed: number | null }>()
  for (const record of stdout.toString('latin1').split('\0')) {
    const [added = '', removed = '', ...path] = record.split('\t')
    if (path.length === 0) continue
    const number = (text: string) => (text === '-' ? null : Number(text))
    counts.set(path.join('\t'), { added: number(added), removed: number(removed) })
  }
  return counts
}
