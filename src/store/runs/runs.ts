/** Runs: listing by cursor, settling, cancelling, postponing, making due. startable.ts decides which may start now. */
import { type Kysely, sql } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { Page } from '../../contract/http.ts'
import { type ConversationId, type JobId, RunId, type SessionId } from '../../contract/ids.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Tables } from '../base/schema.ts'
import type { RunEffect, Tx } from '../base/transaction.ts'
import { appendEvents } from './events.ts'
import type { RunRecord, RunRequest } from './records.ts'
import { PAUSED_MS, toRun } from './rows.ts'
import { announceChange, announceDelay, CHANGE_COLUMNS } from './run-changes.ts'
import { countSettled, readTotals } from './totals.ts'

export async function getRun(db: Kysely<Tables>, id: RunId): Promise<RunRecord | null> {
  const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? toRun(row) : null
}

export interface RunQuery {
  limit: number
  cursor?: string | undefined
  state?: 'queued' | 'running' | 'settled' | undefined
  sessionId?: SessionId | undefined
  conversationId?: ConversationId | undefined
  jobId?: JobId | undefined
}

/** Newest first. The cursor is the last id of the previous page. */
export async function listRuns(db: Kysely<Tables>, query: RunQuery): Promise<Page<RunRecord>> {
  let select = db
    .selectFrom('runs')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
  if (query.cursor !== undefined) {
    if (!RunId.is(query.cursor))
      throw new RepriseError('bad-request', 'cursor: expected the `nextCursor` of a previous page')
    select = select.where('id', '<', query.cursor)
  }
  if (query.state) select = select.where('state', '=', query.state)
  // A redundant condition, so that the index of open runs is used instead of reading all settled ones.
  if (query.state && query.state !== 'settled') select = select.where('state', '<>', 'settled')
  if (query.sessionId) select = select.where('session_id', '=', query.sessionId)
  if (query.conversationId) select = select.where('conversation_id', '=', query.conversationId)
  if (query.jobId) select = select.where('job_id', '=', query.jobId)
  const rows = await select.execute()
  const items = rows.slice(0, query.limit).map(toRun)
  return { items, nextCursor: rows.length > query.limit ? (items.at(-1)?.id ?? null) : null }
}

/** Newest first. */
export async function listQuarantined(db: Kysely<Tables>, since: Date, limit: number): Promise<RunRecord[]> {
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('outcome_name', '=', sql.lit('quarantined'))
    .where('ended_at', '>', since.getTime())
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toRun)
}

export async function countRuns(
  db: Kysely<Tables>,
): Promise<{ queued: number; running: number; settled: number }> {
  const totals = await readTotals(db)
  const sum = (rows: typeof totals) => rows.reduce((n, { runs }) => n + runs, 0)
  const of = (state: string) => sum(totals.filter(({ outcome }) => outcome === state))
  const [queued, running] = [of('queued'), of('running')]
  return { queued, running, settled: sum(totals) - queued - running }
}

/** How many runs each agent works on; agents without one are left out. */
export async function countRunning(db: Kysely<Tables>): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('runs')
    .select((eb) => ['agent', eb.fn.countAll<number>().as('runs')])
    .where('state', '=', 'running')
    .groupBy('agent')
    .execute()
  return new Map(rows.map(({ agent, runs }) => [agent, Number(runs)]))
}

/** Settles a run that has no attempt in progress. Returns false if it has one, or is settled already. */
export async function settleQueued(
  tx: Tx,
  id: RunId,
  outcome: Outcome,
  at: Date,
  effects: readonly RunEffect[] = [],
): Promise<boolean> {
  const row = await tx
    .updateTable('runs')
    .set({
      state: 'settled',
      outcome: JSON.stringify(outcome),
      outcome_name: outcome.name,
      message: outcome.message,
      ended_at: at.getTime(),
      not_before: null,
    })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .returning(CHANGE_COLUMNS)
    .executeTakeFirst()
  if (!row) return false
  await countSettled(tx, id)
  await appendEvents(tx, id, null, [{ type: 'run-end', outcome }], at)
  await announceChange(tx, row, at, effects)
  return true
}

export async function markCancelRequested(tx: Tx, id: RunId, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('runs')
    .set((eb) => ({ cancel_requested_at: eb.fn.coalesce('cancel_requested_at', eb.val(at.getTime())) }))
    .where('id', '=', id)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Called in the transaction that removes what the runs were for. The supervisor of a running one then stops it. */
export async function cancelRuns(tx: Tx, ids: readonly RunId[], at: Date): Promise<void> {
  for (const id of ids) {
    if (await settleQueued(tx, id, { name: 'cancelled', message: 'cancelled' }, at)) continue
    await markCancelRequested(tx, id, at)
  }
}

/** Postpones a queued run. */
export async function limitRun(tx: Tx, id: RunId, request: RunRequest): Promise<void> {
  await tx
    .updateTable('runs')
    .set({ request: JSON.stringify(request) })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .execute()
}

export async function postponeRun(tx: Tx, id: RunId, until: Date, why: string): Promise<void> {
  await tx
    .updateTable('runs')
    .set({ not_before: until.getTime(), wait_ms: null, message: why })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .execute()
}

/** Makes a run due now that waits for a time. Returns false if it does not wait. */
export async function hastenRun(tx: Tx, id: RunId, at: Date): Promise<boolean> {
  const before = await tx
    .selectFrom('runs')
    .select(['held_by', 'not_before'])
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .where('not_before', '>', at.getTime())
    .executeTakeFirst()
  if (!before) return false
  const row = await tx
    .updateTable('runs')
    .set({ not_before: null, continued: 1 })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .where('not_before', '=', before.not_before)
    .returning(CHANGE_COLUMNS)
    .executeTakeFirst()
  if (!row) return false
  if (before.held_by !== null) {
    for (const listener of tx.listeners) await listener.hastened?.(tx, before.held_by, at)
  }
  const notBefore = Number(before.not_before)
  if (before.held_by !== null || notBefore >= PAUSED_MS) await announceDelay(tx, id, at.getTime() - notBefore)
  await announceChange(tx, row, at)
  return true
}
