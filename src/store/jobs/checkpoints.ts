/** Records of the checkpoints of jobs. The checkpoints themselves are in the users' repositories. */
import type { Kysely } from 'kysely'
import type { JobId } from '../../contract/ids.ts'
import type { JobState } from '../../contract/job.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { CheckpointRecord, JobRecord, SessionPosition } from './records.ts'
import { toCheckpoint, toJob } from './rows.ts'

export async function addCheckpoint(tx: Tx, checkpoint: CheckpointRecord): Promise<void> {
  await tx
    .insertInto('checkpoints')
    .values({
      job_id: checkpoint.jobId,
      number: checkpoint.number,
      kind: checkpoint.kind,
      ref: checkpoint.ref,
      commit_id: checkpoint.commit,
      tree: checkpoint.tree,
      head: checkpoint.head,
      attempt_id: checkpoint.attemptId,
      session_id: checkpoint.position?.sessionId ?? null,
      message_id: checkpoint.position?.messageId ?? null,
      created_at: checkpoint.createdAt.getTime(),
    })
    // In a repository that was cloned again, the numbers begin at 1 again: the newest checkpoint of a number replaces
    // the old record.
    .onConflict((oc) =>
      oc.columns(['job_id', 'number']).doUpdateSet((eb) => ({
        kind: eb.ref('excluded.kind'),
        commit_id: eb.ref('excluded.commit_id'),
        tree: eb.ref('excluded.tree'),
        head: eb.ref('excluded.head'),
        attempt_id: eb.ref('excluded.attempt_id'),
        session_id: eb.ref('excluded.session_id'),
        message_id: eb.ref('excluded.message_id'),
        created_at: eb.ref('excluded.created_at'),
      })),
    )
    .execute()
}

/** The session went on, and the files are still as they were at the checkpoint. */
export async function placeCheckpoint(
  tx: Tx,
  id: JobId,
  number: number,
  { sessionId, messageId }: SessionPosition,
): Promise<void> {
  await tx
    .updateTable('checkpoints')
    .set({ session_id: sessionId, message_id: messageId })
    .where('job_id', '=', id)
    .where('number', '=', number)
    .execute()
}

export async function listCheckpoints(db: Kysely<Tables>, id: JobId): Promise<CheckpointRecord[]> {
  const rows = await db
    .selectFrom('checkpoints')
    .selectAll()
    .where('job_id', '=', id)
    .orderBy('number')
    .execute()
  return rows.map(toCheckpoint)
}

export async function deleteCheckpoints(tx: Tx, id: JobId): Promise<void> {
  await tx.deleteFrom('checkpoints').where('job_id', '=', id).execute()
}

const ENDED: readonly JobState[] = ['completed', 'failed', 'cancelled']

export async function listJobsWithOldCheckpoints(
  db: Kysely<Tables>,
  endedBefore: Date,
  limit: number,
): Promise<JobRecord[]> {
  const rows = await db
    .selectFrom('jobs')
    .selectAll()
    .where('id', 'in', (eb) => eb.selectFrom('checkpoints').select('job_id').distinct())
    .where('state', 'in', ENDED)
    .where('updated_at', '<', endedBefore.getTime())
    .limit(limit)
    .execute()
  return rows.map(toJob)
}
