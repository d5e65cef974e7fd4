import { RepriseError } from '../../contract/errors.ts'
import type { RunId } from '../../contract/ids.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

/** Returns the run, or throws `not-found`. */
export async function requireRun(store: Pick<Store, 'getRun'>, id: RunId): Promise<RunRecord> {
  const run = await store.getRun(id)
  if (run) return run
  throw new RepriseError('not-found', `there is no run ${id}`, { hint: '`reprise runs` lists them.' })
}

export const alreadySettled = (run: RunRecord): RepriseError =>
  new RepriseError('run-settled', `run ${run.id} has already ended`, { details: { state: run.state } })
