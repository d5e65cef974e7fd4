/** What runs have spent, for budgets. */
import type { Kysely } from 'kysely'
import { JobId, type RunId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { SpendOfRun } from './records.ts'
import { toSpend } from './rows.ts'

/** Every run that was ever attempted: the runs of a job, or one run, and all that descend from them by follow-ups. */
export async function listSpendOf(db: Kysely<Tables>, id: JobId | RunId): Promise<SpendOfRun[]> {
  const of = (column: 'id' | 'job_id' | 'budget_of') =>
    db
      .selectFrom('runs')
      .select(['id', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cost_usd'])
      .where(column, '=', id as never)
      .where('attempt_count', '>', 0)
  const own = JobId.is(id) ? of('job_id') : of('id')
  const rows = await own.union(of('budget_of')).execute()
  return rows.map((row) => ({ runId: row.id, ...toSpend(row) }))
}
