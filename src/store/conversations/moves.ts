/** Moves a session to another work directory, with everything that continues in it there. */
import type { Kysely } from 'kysely'
import type { ConversationId, JobId, SessionId } from '../../contract/ids.ts'
import type { Place } from '../../core/resume/place.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { updateConversation } from './conversations.ts'

export interface SessionMoving {
  id: SessionId
  to: Place
  conversation: ConversationId | null
  /** The jobs that continue in the session, with their options after the move as JSON. */
  jobs: readonly { id: JobId; options: string }[]
  at: Date
}

/** Returns false if a run is using the session. */
export async function relocateSession(
  tx: Tx,
  { id, to, conversation, jobs, at }: SessionMoving,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('sessions')
    .set({ work_dir: to.workDir, work_dir_id: to.workDirId })
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('leases')
            .select('session_id')
            .whereRef('leases.session_id', '=', 'sessions.id')
            .where('process_id', 'is not', null),
        ),
      ),
    )
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  // Runs that have not begun yet would otherwise start a new session in the old directory.
  await tx
    .updateTable('runs')
    .set({ work_dir: to.workDir })
    .where('session_id', '=', id)
    .where('state', '=', 'queued')
    .execute()
  for (const job of jobs) {
    await tx.updateTable('jobs').set({ options: job.options }).where('id', '=', job.id).execute()
  }
  if (conversation) await updateConversation(tx, conversation, { workDir: to.workDir }, at)
  return true
}

/** The jobs whose newest run worked in the session. */
export async function listJobsOfSession(db: Kysely<Tables>, id: SessionId): Promise<JobId[]> {
  const rows = await db
    .selectFrom('jobs')
    .innerJoin('runs', 'runs.id', 'jobs.run_id')
    .select('jobs.id')
    .where('runs.session_id', '=', id)
    .orderBy('jobs.id')
    .execute()
  return rows.map((row) => row.id)
}
