/**
 * Jobs: admitted with their first run, given another run when a person wants them to go on. A job's `run_id` only
 * changes here, and only when the run before it has settled.
 */
import { type Kysely, sql } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { Page } from '../../contract/http.ts'
import { JobId, type RunId } from '../../contract/ids.ts'
import type { JobState, UpdateJob } from '../../contract/job.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/writer.ts'
import { tryNow } from '../obstacles/obstacles.ts'
import { admitRun } from '../runs/admit-run.ts'
import type { NewRun, RunRecord, SpendOfRun } from '../runs/records.ts'
import { PAUSED_MS, toRun, toSpend } from '../runs/rows.ts'
import { settleQueued } from '../runs/runs.ts'
import { extendDeadlineOf } from '../watches/cycle-deadlines.ts'
import type { JobRecord, NewJob } from './records.ts'
import { toJob } from './rows.ts'

export async function admitJob(
  tx: Tx,
  { job, run }: { job: NewJob; run: NewRun },
): Promise<{ job: JobRecord; created: boolean }> {
  const known =
    job.idempotencyKey === null ? null : await findJobByKey(tx, job.idempotencyKey, job.requestHash)
  if (known) return { job: known, created: false }
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
    .selectFrom('runs')
    .select(['job_id', 'held_by', 'not_before'])
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .where('not_before', '>', at.getTime())
    .executeTakeFirst()
  if (!run) return false
  await tx.updateTable('runs').set({ not_before: null, continued: 1 }).where('id', '=', id).execute()
  if (run.held_by !== null) await tryNow(tx, run.held_by, at)
  // The time that was given to its cycle for the wait.
  const notBefore = Number(run.not_before)
  if (run.held_by !== null || notBefore >= PAUSED_MS) await extendDeadlineOf(tx, id, at.getTime() - notBefore)
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

/** Oldest first. Of prompts and answers only the beginning is read: there may be many, and they may be long. */
export async function listRunsOfJobs(db: Kysely<Tables>, ids: readonly JobId[]): Promise<RunRecord[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('runs')
    .select(SHORT_COLUMNS)
    .select([
      sql<string>`substr(prompt, 1, ${sql.lit(KEPT_CHARS)})`.as('prompt'),
      sql<string | null>`substr(result_text, 1, ${sql.lit(KEPT_CHARS)})`.as('result_text'),
    ])
    .where('job_id', 'in', ids)
    .where('job_id', 'is not', null)
    .orderBy('id')
    .execute()
  return rows.map(toRun)
}

const KEPT_CHARS = 4000
/** All columns but the two that may be long. `toRun` takes only whole rows, so that none can be forgotten here. */
const SHORT_COLUMNS = [
  'id',
  'idempotency_key',
  'agent',
  'model',
  'work_dir',
  'prompt_id',
  'request',
  'state',
  'lane',
  'session_id',
  'not_before',
  'wait_ms',
  'held_by',
  'continued',
  'cancel_requested_at',
  'outcome',
  'outcome_name',
  'message',
  'resumed',
  'fresh_reason',
  'carry',
  'attempt_count',
  'outdated_attempts',
  'crash_count',
  'resume_count',
  'last_seq',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost_usd',
  'cost_estimated',
  'context_tokens',
  'context_window',
  'parent_run_id',
  'tier',
  'conversation_id',
  'turn',
  'prompt_chars',
  'transcript_chars',
  'left_out',
  'job_id',
  'cycle_id',
  'follow_up_id',
  'budget_of',
  'priority',
  'place',
  'holds_place',
  'model_calls',
  'tool_calls',
  'refusals',
  'created_at',
  'started_at',
  'ended_at',
] as const

/** Of each run that was ever attempted: the runs of a job, or one run, and all that descend from them by follow-ups. */
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

/** null: the key is new. With another request behind it, it is refused. */
export async function findJobByKey(
  db: Kysely<Tables>,
  idempotencyKey: string,
  requestHash: string,
): Promise<JobRecord | null> {
  const known = await db
    .selectFrom('jobs')
    .selectAll()
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirst()
  if (!known || known.request_hash === requestHash) return known ? toJob(known) : null
  throw new RepriseError('conflict', `Idempotency-Key ${idempotencyKey} was used for another request`, {
    hint: 'Use a new key for a new request.',
    details: { jobId: known.id },
  })
}

export async function countJobs(db: Kysely<Tables>): Promise<Partial<Record<JobState, number>>> {
  const rows = await db
    .selectFrom('jobs')
    .select(['state', (eb) => eb.fn.countAll<number>().as('n')])
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map((row) => [row.state, Number(row.n)]))
}
