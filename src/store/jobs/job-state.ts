/** Updates a job's state with its run, in the transaction that changes the run. */
import { jobStateOf, type RunStanding } from '../../core/job/state.ts'
import type { RunChange, RunListener } from '../base/transaction.ts'

export const jobListener: RunListener = {
  changed: async (tx, run) => {
    if (run.jobId === null) return
    await tx
      .updateTable('jobs')
      .set({ ...jobStateOf(standingOf(run)), updated_at: run.at.getTime() })
      .where('id', '=', run.jobId)
      .where('run_id', '=', run.id)
      .execute()
  },
}

function standingOf({ state, outcome, notBefore, at }: RunChange): RunStanding {
  if (state === 'settled') return { at: 'settled', outcome: outcome ?? 'crashed' }
  if (state === 'running') return { at: 'running' }
  return { at: 'queued', waits: notBefore !== null && notBefore > at }
}
