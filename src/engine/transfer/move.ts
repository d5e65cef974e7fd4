/**
 * Moves a session to another work directory: one that was renamed, another worktree, or wherever a person says that the work
 * goes on. The agent finds its files by the session's id, so they stay where they are. A conversation or a job that
 * continues in the session moves with it.
 */
import { RepriseError } from '../../contract/errors.ts'
import type { SessionMove } from '../../contract/session-transfer.ts'
import type { Clock } from '../../core/clock.ts'
import { isSamePlace, type Place } from '../../core/resume/place.ts'
import type { Git } from '../../process/git/run.ts'
import { findWorkTree } from '../../process/git/work-tree.ts'
import type { JobRecord } from '../../store/jobs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { checkWorkDir, identifyDir } from '../base/work-dir.ts'
import { requireSession } from '../sessions/require-session.ts'
import { findWriter, type SourceDeps } from './source.ts'

export type MoveDeps = SourceDeps & {
  store: Pick<
    Store,
    'getSession' | 'findSession' | 'findConversationOf' | 'listJobsOfSession' | 'getJob' | 'relocateSession'
  >
  clock: Clock
  git: Git
}

interface Planned {
  session: SessionRecord
  to: Place
  jobs: readonly JobRecord[]
  move: SessionMove
}

/** Describes the move. Changes nothing. */
export const planSessionMove = async (deps: MoveDeps, id: string, workDir: string): Promise<SessionMove> =>
  (await plan(deps, id, workDir)).move

export async function moveSession(deps: MoveDeps, id: string, workDir: string): Promise<SessionMove> {
  const { session, to, jobs, move } = await plan(deps, id, workDir)
  const writer = await findWriter(deps, session)
  const moved =
    writer === null &&
    (await deps.store.relocateSession({
      id: session.id,
      to,
      conversation: move.conversation,
      jobs: await Promise.all(
        jobs.map(async (job) => ({ id: job.id, options: await optionsAt(deps, job, to) })),
      ),
      at: deps.clock.now(),
    }))
  if (moved) return move
  throw new RepriseError('conflict', `session ${session.id} is being used by ${writer ?? 'a run'}`, {
    hint: 'Wait until that has ended, then move it.',
  })
}

async function plan({ store }: MoveDeps, id: string, workDir: string): Promise<Planned> {
  const session = await requireSession(store, id)
  const real = await checkWorkDir(workDir)
  const to = { workDir: real, workDirId: await identifyDir(real) }
  const jobIds = await store.listJobsOfSession(session.id)
  const jobs = (await Promise.all(jobIds.map((job) => store.getJob(job)))).filter((job) => job !== null)
  const same = isSamePlace(session, to)
  const move: SessionMove = {
    session: session.id,
    from: session.workDir,
    to: real,
    same,
    conversation: await store.findConversationOf(session.id),
    jobs: jobIds,
    why: describe(session, to),
  }
  return { session, to, jobs, move }
}

function describe(from: SessionRecord, to: Place): string {
  if (from.workDir === to.workDir) return 'it is the directory of the session already'
  if (isSamePlace(from, to)) return `it is the directory of the session, which was ${from.workDir}`
  return `the session was used in ${from.workDir}: the agent will resume it in the new directory and is told so, but paths that it remembers lead to the old one`
}

/** The checkpoints of a job are in the repository of its directory. */
async function optionsAt({ git }: MoveDeps, { options }: JobRecord, { workDir }: Place): Promise<string> {
  const found = options.checkpoints ? await findWorkTree(git, workDir) : null
  const workTree = found?.kind === 'work-tree' ? found.workTree.top : null
  return JSON.stringify({
    ...options,
    workDir,
    workTree,
    checkpoints: workTree === null ? null : options.checkpoints,
  } satisfies JobRecord['options'])
}
