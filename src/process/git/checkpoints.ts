/**
 * Checkpoints are commits under `refs/reprise/<job>/<number>`. The only parent is the commit that HEAD was at: so `git
 * diff <ref>^ <ref>` shows what was not committed then, commits that are discarded later stay reachable, and each
 * checkpoint is independent: when its ref is deleted, its space can be reclaimed. The message names the previous
 * checkpoint.
 *
 * A ref is created once and never moved.
 */
import { GitError } from './error.ts'
import type { GitCall } from './run.ts'
import { readUnfinished, type Unfinished } from './unfinished.ts'
import { inRepository, objectId, readHead, type WorkTree } from './work-tree.ts'

export interface Checkpoint {
  jobId: string
  number: number
  ref: string
  commit: string
  tree: string
  /** null: the branch had no commit. */
  head: string | null
  /** The git operation that was in progress, such as a merge. */
  unfinished: Unfinished | null
}

export interface ListedCheckpoint extends Checkpoint {
  at: Date
  /** The first line of the commit message. */
  message: string
}

export interface NewCheckpoint {
  jobId: string
  /** The preferred number; if it is taken, the next free one is used. */
  number?: number
  tree: string
  message: string
  /** The commit of the previous checkpoint. */
  previous?: string | null
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Reprise',
  GIT_AUTHOR_EMAIL: 'reprise@localhost',
  GIT_COMMITTER_NAME: 'Reprise',
  GIT_COMMITTER_EMAIL: 'reprise@localhost',
}

export async function commitCheckpoint(workTree: WorkTree, wanted: NewCheckpoint): Promise<Checkpoint> {
  const { jobId } = wanted
  const folder = folderOf(jobId)
  const [tree, head, unfinished] = [objectId(wanted.tree), await readHead(workTree), readUnfinished(workTree)]
  const { stdout } = await inRepository(workTree, {
    args: ['commit-tree', ...(head === null ? [] : ['-p', head]), tree],
    input: describe(wanted, head, unfinished),
    env: IDENTITY,
    what: 'could not save a checkpoint',
  })
  const commit = stdout.toString().trim()
  for (let number = wanted.number ?? 1, round = 0; round < ROUNDS; round++) {
    const taken = (await listCheckpoints(workTree, jobId)).map((checkpoint) => checkpoint.number)
    if (wanted.number === undefined || taken.includes(number)) number = Math.max(0, ...taken) + 1
    const ref = `${folder}${number}`
    if (await createRef(workTree, ref, commit)) return { jobId, number, ref, commit, tree, head, unfinished }
  }
  throw new GitError(
    'changing',
    `could not save a checkpoint: other processes keep taking the next number in ${folder}`,
  )
}

const ROUNDS = 5

function folderOf(jobId: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(jobId)) {
    throw new GitError('failed', `${JSON.stringify(jobId)} cannot be used in the name of a ref`)
  }
  return `refs/reprise/${jobId}/`
}

/** The trailers are the last paragraph, so that text in the message cannot be read as a trailer. */
function describe(
  { jobId, message, previous }: NewCheckpoint,
  head: string | null,
  unfinished: string | null,
) {
  const trailers = [
    `Reprise-Job: ${jobId}`,
    `Reprise-Head: ${head ?? 'none'}`,
    ...(unfinished ? [`Reprise-Unfinished: ${unfinished}`] : []),
    ...(previous ? [`Reprise-Previous: ${objectId(previous)}`] : []),
  ]
  return `${message.replaceAll('\0', ' ').trim() || 'Checkpoint'}\n\n${trailers.join('\n')}\n`
}

/** Returns false if the ref exists already. */
async function createRef(workTree: WorkTree, ref: string, commit: string): Promise<boolean> {
  try {
    await updateRefs(workTree, `create ${ref}\0${commit}\0`)
    return true
  } catch (error) {
    if (error instanceof GitError && /reference already exists|cannot lock ref/.test(error.message)) {
      if (await exists(workTree, ref)) return false
    }
    throw error
  }
}

async function exists(workTree: WorkTree, ref: string): Promise<boolean> {
  const call: GitCall = {
    args: ['show-ref', '--verify', '--quiet', ref],
    what: 'could not read a ref',
    answers: [1],
  }
  return (await inRepository(workTree, call)).code === 0
}

const updateRefs = (workTree: WorkTree, commands: string) =>
  inRepository(workTree, {
    args: ['update-ref', '--no-deref', '-z', '--stdin'],
    input: commands,
    what: 'could not write a checkpoint',
  })

const FIELDS = [
  'refname',
  'objectname',
  'tree',
  'committerdate:unix',
  // Read all trailers at once: git mixes up several `trailers:key=` fields in one format.
  'trailers:only,unfold',
  'contents:subject',
]

function readTrailers(text: string): Pick<Checkpoint, 'head' | 'unfinished'> {
  const value = (key: string) => new RegExp(`^Reprise-${key}: (.+)$`, 'm').exec(text)?.[1] ?? null
  const head = value('Head')
  return { head: head === 'none' ? null : head, unfinished: value('Unfinished') as Unfinished | null }
}

/** Returns the job's checkpoints in the order of their numbers. */
export async function listCheckpoints(workTree: WorkTree, jobId: string): Promise<ListedCheckpoint[]> {
  const folder = folderOf(jobId)
  const format = FIELDS.map((field) => `%(${field})`).join('%00')
  const { stdout } = await inRepository(workTree, {
    args: ['for-each-ref', `--format=${format}%00%00`, folder],
    what: 'could not list checkpoints',
  })
  return stdout
    .toString()
    .split('\0\0\n')
    .flatMap((record) => {
      const [ref = '', commit = '', tree = '', seconds, trailers = '', message = ''] = record.split('\0')
      const number = Number(ref.slice(folder.length))
      if (!Number.isSafeInteger(number) || number < 1 || tree === '') return []
      return {
        jobId,
        number,
        ref,
        commit,
        tree,
        ...readTrailers(trailers),
        at: new Date(Number(seconds) * 1000),
        message,
      }
    })
    .sort((a, b) => a.number - b.number)
}

/** Reads the tree of a checkpoint, and the git operation that was in progress. */
export async function readCheckpoint(
  workTree: WorkTree,
  commit: string,
): Promise<Pick<Checkpoint, 'tree' | 'head' | 'unfinished'>> {
  const format = '--format=%T%x00%(trailers:only,unfold)'
  const { stdout } = await inRepository(workTree, {
    args: [
      'show',
      '--no-patch',
      '--no-show-signature',
      '--no-notes',
      format,
      `${objectId(commit)}^{commit}`,
      '--',
    ],
    what: 'could not read the checkpoint',
  })
  const [tree = '', trailers = ''] = stdout.toString().trim().split('\0')
  return { tree, ...readTrailers(trailers) }
}

/**
 * Deletes the checkpoints with the given numbers, or all of the job. Returns how many existed. The next `git gc`
 * reclaims their space.
 */
export async function deleteCheckpoints(
  workTree: WorkTree,
  jobId: string,
  numbers?: readonly number[],
): Promise<number> {
  const found = (await listCheckpoints(workTree, jobId)).filter(
    ({ number }) => numbers === undefined || numbers.includes(number),
  )
  if (found.length > 0) {
    await updateRefs(workTree, found.map(({ ref, commit }) => `delete ${ref}\0${commit}\0`).join(''))
  }
  return found.length
}
