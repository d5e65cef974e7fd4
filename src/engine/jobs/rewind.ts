/**
 * Rewinds a job to a checkpoint: its files and its session go back to the same point. The session is forked there, so the
 * old one stays as it is, and the present files are saved as another checkpoint. The job's next run continues in the fork.
 *
 *     forked (files of the session only) → files restored → stored
 *
 * An interruption between the steps leaves the job as it was, with the old files saved; the rewind can be repeated.
 */
import type { RewoundJob } from '../../contract/checkpoint.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { CheckpointRecord, JobRecord } from '../../store/jobs/records.ts'
import type { Store } from '../../store/store.ts'
import { type CopyDeps, copySession, type MadeCopy } from '../transfer/copy.ts'
import { storePlaced } from '../transfer/store-placed.ts'
import { pick } from './checkpoint-errors.ts'
import type { Checkpoints } from './checkpoints.ts'

export type RewindDeps = CopyDeps & {
  store: Pick<Store, 'listCheckpoints' | 'getSession' | 'addCopies' | 'rewindJob'>
  checkpoints: Pick<Checkpoints, 'restore'>
}

/** No run may be using the job's directory. */
export async function rewindJob(deps: RewindDeps, job: JobRecord, number: number): Promise<RewoundJob> {
  const { store, checkpoints, clock } = deps
  const target = pick(job, await store.listCheckpoints(job.id), number)
  const fork = await forkAt(deps, target)
  const sessionId = fork?.session.id ?? null
  const position =
    fork?.part.lastMessageId && sessionId ? { sessionId, messageId: fork.part.lastMessageId } : null
  const { restored, saved } = await storePlaced(deps, fork ? [fork] : [], async () => {
    const done = await checkpoints.restore(job, number, { position })
    if (fork) await store.addCopies([fork], null)
    return done
  })
  const rewound = { after: job.runId, checkpoint: number, sessionId }
  if (!(await store.rewindJob(job.id, rewound, clock.now()))) {
    throw new RepriseError('conflict', `job ${job.id} was continued meanwhile`)
  }
  return { jobId: job.id, restored, saved, session: sessionId }
}

/** null: the checkpoint was taken before the agent began. */
async function forkAt(
  deps: RewindDeps,
  { kind, number, jobId, position }: CheckpointRecord,
): Promise<MadeCopy | null> {
  if (kind === 'start') return null
  const session = position && (await deps.store.getSession(position.sessionId))
  if (!session) {
    throw new RepriseError(
      'conflict',
      `checkpoint ${number} has files only: no position of the session is known`,
      {
        hint: `\`reprise jobs restore ${jobId} ${number}\` restores the files.`,
      },
    )
  }
  return copySession(deps, session, { messageId: position.messageId, keep: 'message', told: null }, 'rewind')
}
