/** Errors of the API about checkpoints and the work tree that they are taken of. */
import { RepriseError } from '../../contract/errors.ts'
import { GitError } from '../../process/git/error.ts'
import type { Git } from '../../process/git/run.ts'
import { findWorkTree } from '../../process/git/work-tree.ts'
import type { CheckpointRecord, JobRecord } from '../../store/jobs/records.ts'

/**
 * The top of the work tree, for a job with checkpoints. If there is none: null, or an error if checkpoints are
 * required.
 */
export async function findTop(git: Git, dir: string, required: boolean): Promise<string | null> {
  const found = await explained(() => findWorkTree(git, dir))
  if (found.kind === 'work-tree') return found.workTree.top
  if (!required) return null
  const why = found.kind === 'git-missing' ? 'git is not installed' : `${dir} is not in a git repository`
  throw new RepriseError('work-dir-unusable', `checkpoints are kept in git, and ${why}`, {
    hint:
      found.kind === 'git-missing'
        ? 'Install git, or start the job without checkpoints.'
        : 'Run `git init` there, or start the job without checkpoints.',
  })
}

export function pick(
  job: JobRecord,
  known: readonly CheckpointRecord[],
  number: number | undefined,
): CheckpointRecord {
  const found = known.find((checkpoint) => checkpoint.number === number)
  if (found) return found
  const which = number === undefined ? 'checkpoints' : `checkpoint ${number}`
  throw new RepriseError('not-found', `job ${job.id} has no ${which}`, {
    hint: job.options.checkpoints
      ? `\`reprise jobs show ${job.id}\` lists them.`
      : 'Jobs have checkpoints if they are started with them (--checkpoints).',
  })
}

/** Converts git's errors into errors of the API. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw new RepriseError('work-dir-unusable', error.message, {
      ...(error.hint ? { hint: error.hint } : {}),
      cause: error,
    })
  }
}
