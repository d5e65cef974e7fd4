/** Finds what a continuing agent should know: changes since the checkpoint, conflicts, an unfinished git operation. */
import type { Findings } from '../../core/checkpoint/findings.ts'
import { openUntrusted } from '../../files/untrusted.ts'
import { captureTree } from './capture.ts'
import { forPeople, onDisk, type RawPath, splitNul } from './paths.ts'
import { type Change, describeChange, diffTrees } from './tree-diff.ts'
import { readUnfinished } from './unfinished.ts'
import { inRepository, readHead, type WorkTree } from './work-tree.ts'

export interface Since {
  tree: string
  head: string | null
}

const MAX_CHANGED = 200

/** `since` null: there is no checkpoint to compare with. */
export async function inspect(workTree: WorkTree, since: Since | null): Promise<Findings> {
  const unfinished = readUnfinished(workTree)
  const head = await readHead(workTree)
  const tree = await captureTree(workTree)
  const changed = since === null ? [] : await diffTrees(workTree, since.tree, tree)
  return {
    unfinished,
    conflicted: await findConflicted(workTree, head, tree, changed),
    changed: changed.slice(0, MAX_CHANGED).map(describeChange),
    changedTotal: changed.length,
    headMoved: since !== null && since.head !== head ? { from: since.head, to: head } : null,
    tree,
  }
}

async function findConflicted(
  workTree: WorkTree,
  head: string | null,
  tree: string,
  changed: readonly Change[],
): Promise<string[]> {
  const conflicted = new Set<RawPath>(await listUnmerged(workTree))
  const sinceHead = await diffTrees(workTree, head ?? (await emptyTree(workTree)), tree)
  const committed = new Map(sinceHead.map(({ path, before }) => [path, before?.oid ?? null]))
  for (const { path, after } of [...sinceHead, ...changed].slice(0, MAX_LOOKED_AT)) {
    if (conflicted.has(path) || !after?.mode.startsWith('100')) continue
    // Markers that are also in HEAD were committed on purpose.
    if (!committed.has(path)) continue
    if (!hasMarkers(await readFileStart(workTree, path))) continue
    const old = committed.get(path)
    if (!old || !hasMarkers(await readBlobStart(workTree, old))) conflicted.add(path)
  }
  return [...conflicted].sort().map(forPeople)
}

const MAX_LOOKED_AT = 5000
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Git writes conflict markers as seven characters at the start of a line, followed by a space and a name, or by
 * nothing.
 */
function hasMarkers(text: string): boolean {
  return /^<{7}(?: |\r?$)/m.test(text) && /^>{7}(?: |\r?$)/m.test(text)
}

async function listUnmerged(workTree: WorkTree): Promise<RawPath[]> {
  const call = { args: ['ls-files', '-z', '--unmerged'], what: 'could not read the index' }
  const lines = splitNul((await inRepository(workTree, call)).stdout)
  return lines.map((line) => line.slice(line.indexOf('\t') + 1))
}

async function readFileStart({ top }: WorkTree, path: RawPath): Promise<string> {
  const file = await openUntrusted(onDisk(top, path))
  if (file === null) return ''
  try {
    const { size } = await file.stat()
    const length = Math.min(size, MAX_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}

async function readBlobStart(workTree: WorkTree, oid: string): Promise<string> {
  const { stdout } = await inRepository(workTree, {
    args: ['cat-file', 'blob', oid],
    what: 'could not read a committed file',
    maxBytes: MAX_BYTES,
    cut: true,
  })
  return stdout.toString('latin1')
}

async function emptyTree(workTree: WorkTree): Promise<string> {
  const call = {
    args: ['hash-object', '-t', 'tree', '-w', '--stdin'],
    what: 'could not write to the repository',
  }
  return (await inRepository(workTree, call)).stdout.toString().trim()
}
