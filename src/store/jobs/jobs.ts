/**
 * Jobs: admitted with their first run, given another run when a person continues them. A job's `run_id` changes only
 * here, and only when the previous run has settled.
 */
import type { Kysely } from 'kysely'
import type { UpdateJob } from '../../contract/create-job.ts'
import type { JobId, RunId } from '../../contract/ids.ts'
import type { JobState } from '../../contract/job.ts'
import { claimKey, findMade } from '../base/request-keys.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { admitRun } from '../runs/admit-run.ts'
import type { NewRun } from '../runs/records.ts'
import { settleQueued } from '../runs/runs.ts'
import type { JobRecord, NewJob, Rewound } from './records.ts'
import { toJob } from './rows.ts'

export async function admitJob(
  tx: Tx,
  { job, run }: { job: NewJob; run: NewRun },
): Promise<{ job: JobRecord; created: boolean }> {
  const made =
    job.idempotencyKey === null
      ? null
      : await claimKey(tx, 'job', { key: job.idempotencyKey, requestHash: job.requestHash }, job.id)
  const known = made === null ? null : await getJob(tx, made as JobId)
  if (known) return { job: known, created: false }
  const at = job.createdAt.getTime()
  const row = await tx
    .insertInto('jobs')
    .values({
      id: job.id,
      run_id: run.id,
      state: 'queued',
      attention: null,
      options: JSON.stringify(job.options),
      priority: job.priority,
      max_budget_usd: job.maxBudgetUsd,
      max_budget_tokens: job.maxBudgetTokens,
      rewound: null,
      created_at: at,
      updated_at: at,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await admitRun(tx, run)
  return { job: toJob(row), created: true }
}

const CAN_GO_ON: readonly JobState[] = ['paused', 'failed', 'cancelled']

/** null: the job is not in a state from which it can be continued. */
export async function continueJob(
  tx: Tx,
  id: JobId,
  after: RunId,
  run: NewRun,
  at: Date,
  from: readonly JobState[] = CAN_GO_ON,
): Promise<JobRecord | null> {
  const row = await tx
    .updateTable('jobs')
    .set({ run_id: run.id, state: 'queued', attention: null, updated_at: at.getTime() })
    .where('id', '=', id)
    .where('run_id', '=', after)
    .where('state', 'in', from)
    .returningAll()
    .executeTakeFirst()
  if (!row) return null
  await admitRun(tx, run)
  return toJob(row)
}

/** Notes where the job continues. Returns false if it has another run by now. */
export async function rewindJob(tx: Tx, id: JobId, rewound: Rewound, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('jobs')
    .set({ rewound: JSON.stringify(rewound), updated_at: at.getTime() })
    .where('id', '=', id)
    .where('run_id', '=', rewound.after)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Gives up a paused job by adding a run that is cancelled before it starts. Returns false if the job is not paused. */
export async function dismissJob(tx: Tx, id: JobId, after: RunId, run: NewRun, at: Date): Promise<boolean> {
  if (!(await continueJob(tx, id, after, run, at, ['paused']))) return false
  return settleQueued(tx, run.id, { name: 'cancelled', message: 'cancelled' }, at)
}

/**
 * A queued run starts at the new priority; a new budget is applied at the next check. With `goOn`, a job that is paused
 * because of its budget gets that run.
 */
export async function updateJob(
  tx: Tx,
  id: JobId,
  change: UpdateJob,
  goOn: { after: RunId; run: NewRun } | null,
  at: Date,
): Promise<JobRecord | null> {
  const row = await tx
    .updateTable('jobs')
    .set({
      ...(change.maxBudgetUsd === undefined ? {} : { max_budget_usd: change.maxBudgetUsd }),
      ...(change.maxBudgetTokens === undefined ? {} : { max_budget_tokens: change.maxBudgetTokens }),
      ...(change.priority === undefined ? {} : { priority: change.priority }),
      updated_at: at.getTime(),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (!row) return null
  await tx
    .updateTable('runs')
    .set({ priority: row.priority })
    .where('id', '=', row.run_id)
    .where('state', '<>', 'settled')
    .execute()
  const goesOn = goOn !== null && row.attention === 'budget'
  return (goesOn && (await continueJob(tx, id, goOn.after, goOn.run, at))) || toJob(row)
}

export async function getJob(db: Kysely<Tables>, id: JobId): Promise<JobRecord | null> {
  const row = await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? toJob(row) : null
}

/** null: the key is new. The same key with another request is refused. */
export async function findJobByKey(
  db: Kysely<Tables>,
  idempotencyKey: string,
  requestHash: string,
): Promise<JobRecord | null> {
  const made = await findMade(db, 'job', { key: idempotencyKey, requestHash })
  return made === null ? null : getJob(db, made as JobId)
}

export async function countJobs(db: Kysely<Tables>): Promise<Partial<Record<JobState, number>>> {
  const rows = await db
    .selectFrom('jobs')
    .select(['state', (eb) => eb.fn.countAll<number>().as('n')])
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map((row) => [row.state, Number(row.n)]))
}
