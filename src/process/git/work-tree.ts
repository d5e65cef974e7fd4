/** A git work tree: where its files are, and where git keeps its metadata (elsewhere, for a linked work tree). */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { GitError } from './error.ts'
import { findRepository, readRef } from './repository.ts'
import type { Git, GitCall, GitOutput } from './run.ts'

export interface WorkTree {
  git: Git
  top: string
  gitDir: string
  /** What all work trees of the repository share: objects and refs. */
  commonDir: string
  objectFormat: 'sha1' | 'sha256'
}

export type FoundWorkTree =
  | { kind: 'work-tree'; workTree: WorkTree }
  /** Also returned for a bare repository and for a directory inside .git: there are no user files to save. */
  | { kind: 'no-repository' }
  | { kind: 'git-missing' }

/** Throws a GitError if there is a repository that cannot be used, such as one of another user. */
export async function findWorkTree(git: Git, dir: string): Promise<FoundWorkTree> {
  const ask = async (...args: string[]) => {
    const what = `could not look for a repository in ${dir}`
    const { stdout } = await git.run({ args: ['-C', dir, 'rev-parse', ...args], what })
    return stdout.toString().replace(/\n$/, '')
  }
  try {
    if ((await ask('--is-inside-work-tree')) !== 'true') return { kind: 'no-repository' }
    const objectFormat = (await ask('--show-object-format')) === 'sha256' ? 'sha256' : 'sha1'
    const top = await ask('--show-toplevel')
    const gitDir = await ask('--absolute-git-dir')
    const commonDir = await ask('--path-format=absolute', '--git-common-dir')
    if (!belongsTo(gitDir, top)) {
      throw new GitError('failed', `${gitDir} names another folder as its work tree (core.worktree): ${top}`)
    }
    return { kind: 'work-tree', workTree: { git, top, gitDir, commonDir, objectFormat } }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    if (error.kind === 'git-missing') return { kind: 'git-missing' }
    if (/not a git repository|must be run in a work tree|cannot change to/.test(error.message)) {
      return { kind: 'no-repository' }
    }
    throw error
  }
}

/** A repository's `core.worktree` may name any folder, such as the user's home. Only a folder whose own `.git` leads back is used. */
function belongsTo(gitDir: string, top: string): boolean {
  const found = findRepository(top)
  const candidates = [join(top, '.git'), ...(found?.top === top ? [found.gitDir] : [])]
  return candidates.some((path) => real(path) === real(gitDir))
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * Runs git on the objects, references and index of the repository, in a git directory of our own: none of the repository's configuration
 * is read, and nothing is fetched.
 */
export function inRepository(workTree: WorkTree, call: GitCall): Promise<GitOutput> {
  const { git, top, gitDir, commonDir } = workTree
  const env = {
    GIT_DIR: git.ownDirs.pathFor(workTree),
    GIT_WORK_TREE: top,
    GIT_OBJECT_DIRECTORY: join(commonDir, 'objects'),
    GIT_INDEX_FILE: join(gitDir, 'index'),
    GIT_ALLOW_PROTOCOL: 'none',
  }
  return git.run({ cwd: top, ...call, env: { ...env, ...call.env } })
}

/** null: the branch has no commit yet, or the commit is missing. */
export async function readHead(workTree: WorkTree): Promise<string | null> {
  const id = readRef(workTree, 'HEAD')
  if (id === null) return null
  const { code, stdout } = await inRepository(workTree, {
    args: ['cat-file', '-t', objectId(id)],
    what: 'could not read HEAD',
    answers: [1, 128],
  })
  return code === 0 && stdout.toString().trim() === 'commit' ? id : null
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** Verifies an object id, so that it cannot be read as an option or a revision expression. */
export function objectId(id: string): string {
  if (!OBJECT_ID.test(id)) throw new GitError('failed', `${JSON.stringify(id)} is not an object id`)
  return id
}
