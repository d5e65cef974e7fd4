/**
 * Restores the work tree to a checkpoint. The user's index, branch and HEAD stay as they are.
 *
 * 1. The present state is saved as a checkpoint: what a capture includes, and ignored files that are in the way.
 * 2. The files to write are prepared beside the work tree, so that a full disk or a missing object is detected before
 * any of the user's files is touched.
 * 3. If the work tree has changed meanwhile, start again.
 * 4. Files are removed, and the prepared ones are moved into place (apply.ts).
 *
 * If it is killed, it can be run again at any point: it then also saves the half-restored state and continues from
 * there. It must not run while an agent works in the tree.
 *
 * Repositories inside the work tree are left alone. So are files that the checkpoint's own rules ignore, unless they
 * are in the way: the checkpoint does not say whether they existed.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Applied, applyChanges } from './apply.ts'
import { captureIn } from './capture.ts'
import { type Checkpoint, commitCheckpoint, readCheckpoint } from './checkpoints.ts'
import { GitError } from './error.ts'
import { findIgnoredThen } from './ignored-then.ts'
import { findInTheWay } from './in-the-way.ts'
import { newDraft } from './own-dir.ts'
import { ancestors, forPeople, joinNul, type RawPath } from './paths.ts'
import { type Shadow, withShadow } from './shadow.ts'
import { type Change, diffTrees, isGitlink } from './tree-diff.ts'
import { readUnfinished } from './unfinished.ts'
import { inRepository, type WorkTree } from './work-tree.ts'

export interface RestoreInput {
  /** The commit of the checkpoint. */
  commit: string
  /** The name under which the present state is saved. */
  saveAs: { jobId: string; number?: number; message: string }
  /** Called with the checkpoint of the present state before the first file is touched. */
  onSaved?: (saved: Checkpoint) => Promise<void>
}

export interface Restored extends Applied {
  /** The checkpoint of the state before; null if nothing had to change. */
  saved: Checkpoint | null
}

const ROUNDS = 5

export async function restore(
  workTree: WorkTree,
  { commit, saveAs, onSaved }: RestoreInput,
): Promise<Restored> {
  const target = await readCheckpoint(workTree, commit)
  refuseUnfinished(workTree, target.unfinished)
  return withShadow(workTree, async (shadow) => {
    let saved: Checkpoint | null = null
    for (let round = 0; round < ROUNDS; round++) {
      const plan = await planRestore(shadow, target.tree)
      if (plan.changes.length === 0) return { saved, written: 0, removed: 0 }
      if (saved?.tree !== plan.present) {
        saved = await commitCheckpoint(workTree, { ...saveAs, tree: plan.present, previous: commit })
        await onSaved?.(saved)
      }
      const result = await withStage(shadow, plan.changes, async (stage) => {
        const again = await captureIn(shadow, plan.inTheWay)
        return again === plan.present ? applyChanges(workTree.top, stage, plan.changes) : null
      })
      if (result !== null) return { saved, ...result }
    }
    throw new GitError('changing', 'could not restore: files in the work tree keep changing', {
      hint: 'Stop the programs that write there, then run the restore again. The state so far is saved as a checkpoint.',
    })
  })
}

function refuseUnfinished(workTree: WorkTree, then: string | null): void {
  const now = readUnfinished(workTree)
  if (now === null || now === then) return
  throw new GitError('unfinished', `could not restore: a ${now} is in progress in ${workTree.top}`, {
    hint: `Finish it, or end it with "git ${now === 'bisect' ? 'bisect reset' : `${now} --abort`}".`,
  })
}

interface Plan {
  /** The tree to save. */
  present: string
  inTheWay: RawPath[]
  changes: Change[]
}

async function planRestore(shadow: Shadow, target: string): Promise<Plan> {
  const { workTree } = shadow
  const captured = await captureIn(shadow)
  const { files, repositories } = await findInTheWay(
    workTree.top,
    await diffTrees(workTree, captured, target),
  )
  if (repositories.length > 0) {
    const names = repositories.map((path) => JSON.stringify(forPeople(path))).join(', ')
    throw new GitError(
      'in-the-way',
      `could not restore: there is another repository where a file must go: ${names}`,
      { hint: 'Move that repository away, then run the restore again.' },
    )
  }
  const present = files.length === 0 ? captured : await captureIn(shadow, files)
  const all = await diffTrees(workTree, present, target)
  const links = new Set(all.filter(({ after }) => isGitlink(after)).map(({ path }) => path))
  const changes = all.filter(
    ({ path, before, after }) =>
      !isGitlink(before) && !isGitlink(after) && !ancestors(path).some((folder) => links.has(folder)),
  )
  const keep = await findKept(shadow, target, changes)
  return { present, inTheWay: files, changes: changes.filter(({ path }) => !keep.has(path)) }
}

/** Files that would be removed but that the checkpoint's rules ignore; see the header. */
async function findKept(shadow: Shadow, target: string, changes: readonly Change[]): Promise<Set<RawPath>> {
  const written = new Set(changes.filter(({ after }) => after !== null).map(({ path }) => path))
  const folders = new Set([...written].flatMap(ancestors))
  const inTheWay = (path: RawPath) =>
    folders.has(path) || ancestors(path).some((folder) => written.has(folder))
  const removable = changes
    .filter(({ after, path }) => after === null && !inTheWay(path))
    .map(({ path }) => path)
  return findIgnoredThen(shadow, target, removable)
}

async function withStage<T>(
  { workTree, run, scratch }: Shadow,
  changes: readonly Change[],
  use: (stage: string) => Promise<T>,
): Promise<T> {
  await requireObjects(workTree, changes)
  const stage = await newDraft(workTree)
  await mkdir(stage)
  try {
    const env = { GIT_INDEX_FILE: join(scratch, 'staged'), GIT_WORK_TREE: stage }
    const what = 'could not lay out the files of the checkpoint'
    await rm(env.GIT_INDEX_FILE, { force: true })
    const entries = changes.flatMap(({ path, after }) =>
      after ? [`${after.mode} ${after.oid}\t${path}`] : [],
    )
    await run({
      args: ['update-index', '-z', '--index-info'],
      input: joinNul(entries),
      env,
      cwd: stage,
      what,
    })
    await run({ args: ['checkout-index', '--all', '--force'], env, cwd: stage, what })
    return await use(stage)
  } finally {
    await rm(stage, { recursive: true, force: true })
  }
}

/** Verifies that the objects of everything that will be overwritten are stored. */
async function requireObjects(workTree: WorkTree, changes: readonly Change[]): Promise<void> {
  const oids = changes.flatMap(({ before, after }) => [before, after]).flatMap((e) => (e ? [e.oid] : []))
  const { stdout } = await inRepository(workTree, {
    args: ['cat-file', '--batch-check'],
    input: [...new Set(oids)].map((oid) => `${oid}\n`).join(''),
    what: 'could not check the checkpoint',
  })
  const missing = stdout
    .toString()
    .split('\n')
    .filter((line) => line.endsWith(' missing'))
  if (missing.length > 0) {
    throw new GitError(
      'missing-object',
      `could not restore: the repository has lost ${missing.length} of the files`,
    )
  }
}
