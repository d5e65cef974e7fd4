/**
 * Jobs: admitted with their first run, given another run when a person wants them to go on. A job's `run_id` only
 * changes here, and only when the run before it has settled.
 */
import type { Kysely } from 'kysely'
import { RepriseError } from '../contract/errors.ts'
import type { Page } from '../contract/http.ts'
import { JobId, type RunId } from '../contract/ids.ts'
import type { JobState, UpdateJob } from '../contract/job.ts'
import type { CheckpointRecord, JobRecord, NewJob, NewRun, RunRecord } from './records.ts'
import { toCheckpoint, toJob, toRun } from './rows.ts'
import { admitRun, settleQueued } from './runs.ts'
import type { Tables } from './schema.ts'
import type { Tx } from './writer.ts'

export async function admitJob(
  tx: Tx,
  { job, run }: { job: NewJob; run: NewRun },
): Promise<{ job: JobRecord; created: boolean }> {
  const known =
    job.idempotencyKey === null
      ? undefined
      : await tx
          .selectFrom('jobs')
          .selectAll()
          .where('idempotency_key', '=', job.idempotencyKey)
          .executeTakeFirst()
  if (known) {
    if (known.request_hash === job.requestHash) return { job: toJob(known), created: false }
    throw new RepriseError('conflict', `Idempotency-Key ${job.idempotencyKey} was used for another request`, {
      hint: 'Use a new key for a new request.',
      details: { jobId: known.id },
    })
  }
  const at = job.createdAt.getTime()
  const row = await tx
    .insertInto('jobs')
    .values({
      id: job.id,
      idempotency_key: job.idempotencyKey,
      request_hash: job.requestHash,
      run_id: run.id,
      state: 'queued',
      attention: null,
      options: JSON.stringify(job.options),
      priority: job.priority,
      max_budget_usd: job.maxBudgetUsd,
      max_budget_tokens: job.maxBudgetTokens,
      created_at: at,
      updated_at: at,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await admitRun(tx, run)
  return { job: toJob(row), created: true }
}

const CAN_GO_ON: readonly JobState[] = ['paused', 'failed', 'cancelled']

/** null: the job is not in a state from which a person can make it go on. */
export async function continueJob(
  tx: Tx,
  id: JobId,
  after: RunId,
  run: NewRun,
  at: Date,
): Promise<JobRecord | null> {
  const row = await tx
    .updateTable('jobs')
    .set({ run_id: run.id, state: 'queued', attention: null, updated_at: at.getTime() })
    .where('id', '=', id)
    .where('run_id', '=', after)
    .where('state', 'in', CAN_GO_ON)
    .returningAll()
    .executeTakeFirst()
  if (!row) return null
  await admitRun(tx, run)
  return toJob(row)
}

/** A paused job is given up: one more run, cancelled before it could start. False if it is not paused. */
export async function dismissJob(tx: Tx, id: JobId, after: RunId, run: NewRun, at: Date): Promise<boolean> {
  const job = await tx.selectFrom('jobs').select('state').where('id', '=', id).executeTakeFirst()
  if (job?.state !== 'paused' || !(await continueJob(tx, id, after, run, at))) return false
  return settleQueued(tx, run.id, { name: 'cancelled', message: 'cancelled' }, at)
}

/**
 * What is queued starts at its new priority; what it may spend counts from the next look at it. With `goOn`, a job that
 * is paused for its budget gets that run.
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

/** A run that waits for a time is due now. False if it does not wait. */
export async function hastenRun(tx: Tx, id: RunId, at: Date): Promise<boolean> {
  const run = await tx
    .updateTable('runs')
    .set({ not_before: null })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .where('not_before', '>', at.getTime())
    .returning('job_id')
    .executeTakeFirst()
  if (!run) return false
  await tx
    .updateTable('jobs')
    .set({ state: 'queued', updated_at: at.getTime() })
    .where('id', '=', run.job_id)
    .where('run_id', '=', id)
    .execute()
  return true
}

export async function getJob(db: Kysely<Tables>, id: JobId): Promise<JobRecord | null> {
  const row = await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? toJob(row) : null
}

export interface JobQuery {
  limit: number
  cursor?: string | undefined
  state?: JobState | undefined
}

/** Newest first. The cursor is the last id of the page before. */
export async function listJobs(db: Kysely<Tables>, query: JobQuery): Promise<Page<JobRecord>> {
  let select = db
    .selectFrom('jobs')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
  if (query.cursor !== undefined) {
    if (!JobId.is(query.cursor))
      throw new RepriseError('bad-request', 'cursor: expected one that a list returned')
    select = select.where('id', '<', query.cursor)
  }
  if (query.state) select = select.where('state', '=', query.state)
  const rows = await select.execute()
  const items = rows.slice(0, query.limit).map(toJob)
  return { items, nextCursor: rows.length > query.limit ? (items.at(-1)?.id ?? null) : null }
}

/** Oldest first. */
export async function listRunsOfJobs(db: Kysely<Tables>, ids: readonly JobId[]): Promise<RunRecord[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('job_id', 'in', ids)
    .where('job_id', 'is not', null)
    .orderBy('id')
    .execute()
  return rows.map(toRun)
}

export async function countJobs(db: Kysely<Tables>): Promise<Partial<Record<JobState, number>>> {
  const rows = await db
    .selectFrom('jobs')
    .select(['state', (eb) => eb.fn.countAll<number>().as('n')])
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map((row) => [row.state, Number(row.n)]))
}

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
      created_at: checkpoint.createdAt.getTime(),
    })
    .onConflict((oc) => oc.columns(['job_id', 'number']).doNothing())
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

export async function isPlaceTaken(db: Kysely<Tables>, place: string): Promise<boolean> {
  const row = await db
    .selectFrom('runs')
    .select('id')
    .where('state', '=', 'running')
    // Said twice, so that the index of what is open is found.
    .where('state', '<>', 'settled')
    .where('place', '=', place)
    .executeTakeFirst()
  return row !== undefined
}
