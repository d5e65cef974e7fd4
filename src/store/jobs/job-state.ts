/** Keeps a job's state in step with its run, in the transaction that changes the run. */
import type { RunId } from '../../contract/ids.ts'
import type { OutcomeName } from '../../contract/outcome.ts'
import { jobStateOf, type RunStanding } from '../../core/job/state.ts'
import type { Tx } from '../base/writer.ts'

export async function followRun(tx: Tx, runId: RunId, at: Date): Promise<void> {
  const run = await tx
    .selectFrom('runs')
    .select(['job_id', 'state', 'not_before', 'outcome_name'])
    .where('id', '=', runId)
    .executeTakeFirst()
  if (!run?.job_id) return
  const standing: RunStanding =
    run.state === 'settled'
      ? { at: 'settled', outcome: run.outcome_name as OutcomeName }
      : run.state === 'running'
        ? { at: 'running' }
        : { at: 'queued', waits: run.not_before !== null && Number(run.not_before) > at.getTime() }
  await tx
    .updateTable('jobs')
    .set({ ...jobStateOf(standing), updated_at: at.getTime() })
    .where('id', '=', run.job_id)
    .where('run_id', '=', runId)
    .execute()
}
