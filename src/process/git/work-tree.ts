/** A git work tree: where its files are, and where git keeps what belongs to it (elsewhere, for a linked work tree). */
import { GitError } from './error.ts'
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
  /** Also for a bare repository, and for a directory inside .git: there are no files of the user's to keep. */
  | { kind: 'no-repository' }
  | { kind: 'git-missing' }

/** Throws a GitError where there is a repository that cannot be used, such as one of another user. */
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

/** Git in the user's own repository: to read, and to write objects and refs under refs/reprise/. */
export function inRepository({ git, top, gitDir }: WorkTree, call: GitCall): Promise<GitOutput> {
  return git.run({ cwd: top, ...call, env: { GIT_DIR: gitDir, GIT_WORK_TREE: top, ...call.env } })
}

/** null: the branch has no commit yet. */
export async function readHead(workTree: WorkTree): Promise<string | null> {
  const { code, stdout } = await inRepository(workTree, {
    args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'],
    what: 'could not read HEAD',
    answers: [1],
  })
  return code === 0 ? stdout.toString().trim() : null
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** What is given as an object must not be taken for an option or an expression. */
export function objectId(id: string): string {
  if (!OBJECT_ID.test(id)) throw new GitError('failed', `${JSON.stringify(id)} is no object id`)
  return id
}
