/** Runs: listed by cursor, found for dispatch, settled. */
import { type Kysely, sql } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { EventBody } from '../../contract/events.ts'
import type { Page } from '../../contract/http.ts'
import { RunId, type SessionId } from '../../contract/ids.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/writer.ts'
import { endTurn } from '../conversations/end-turn.ts'
import { followRun } from '../jobs/job-state.ts'
import { enqueueNotifications } from '../notify/notifications.ts'
import { addEscalation } from '../tiers/escalations.ts'
import type { RunEnding } from './attempt-records.ts'
import { appendEvents } from './events.ts'
import type { RunRecord } from './records.ts'
import { toRun } from './rows.ts'
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
}

/** Newest first. The cursor is the last id of the page before. */
export async function listRuns(db: Kysely<Tables>, query: RunQuery): Promise<Page<RunRecord>> {
  let select = db
    .selectFrom('runs')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
  if (query.cursor !== undefined) {
    if (!RunId.is(query.cursor))
      throw new RepriseError('bad-request', 'cursor: expected one that a list returned')
    select = select.where('id', '<', query.cursor)
  }
  if (query.state) select = select.where('state', '=', query.state)
  // Said twice, so that the index of what is open is found: without it, all that is settled would be read.
  if (query.state && query.state !== 'settled') select = select.where('state', '<>', 'settled')
  if (query.sessionId) select = select.where('session_id', '=', query.sessionId)
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

/** Where nothing more may start at present. */
export interface Busy {
  agents: readonly string[]
  places: readonly string[]
}

/**
 * Queued runs that may start now, by priority, then oldest first: due, and the first of their lane with nobody of it running. A lane
 * stays in order even while its first run waits for a later time.
 */
export async function listStartable(
  db: Kysely<Tables>,
  now: Date,
  limit: number,
  busy: Busy = { agents: [], places: [] },
): Promise<RunRecord[]> {
  let select = db
    .selectFrom('runs as r')
    .select('r.id')
    .where('r.state', '=', sql.lit('queued'))
    .where((eb) => eb.or([eb('r.not_before', 'is', null), eb('r.not_before', '<=', now.getTime())]))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs as o')
            .select('o.id')
            .whereRef('o.lane', '=', 'r.lane')
            .where('o.state', '<>', 'settled')
            .where((eb) => eb.or([eb('o.state', '=', 'running'), eb('o.id', '<', eb.ref('r.id'))])),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs as h')
            .select('h.id')
            .whereRef('h.place', '=', 'r.place')
            .where('h.state', '=', sql.lit('queued'))
            .where('h.holds_place', '=', sql.lit(1))
            .where('h.attempt_count', '>', 0)
            .whereRef('h.id', '<>', 'r.id'),
        ),
      ),
    )
    .orderBy('r.priority', 'desc')
    .orderBy('r.id')
    .limit(limit)
  if (busy.agents.length > 0) select = select.where('r.agent', 'not in', busy.agents)
  if (busy.places.length > 0) {
    select = select.where((eb) => eb.or([eb('r.place', 'is', null), eb('r.place', 'not in', busy.places)]))
  }
  const ids = (await select.execute()).map(({ id }) => id)
  if (ids.length === 0) return []
  const rows = await db.selectFrom('runs').selectAll().where('id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, toRun(row)]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** The run that a queued one waits for because it comes first in their lane, if that run says why it has not begun. */
export async function findWaitingAhead(
  db: Kysely<Tables>,
  id: RunId,
): Promise<{ id: RunId; why: string } | null> {
  const ahead = await db
    .selectFrom('runs as r')
    .innerJoin('runs as o', 'o.lane', 'r.lane')
    .select(['o.id', 'o.state', 'o.message'])
    .where('r.id', '=', id)
    .where('o.state', '<>', 'settled')
    .whereRef('o.id', '<', 'r.id')
    .orderBy('o.id')
    .executeTakeFirst()
  return ahead?.state === 'queued' && ahead.message !== null ? { id: ahead.id, why: ahead.message } : null
}

/** When the next queued run becomes due that is not due yet. */
export async function nextDueAt(db: Kysely<Tables>, now: Date): Promise<Date | null> {
  const row = await db
    .selectFrom('runs')
    .select((eb) => eb.fn.min('not_before').as('at'))
    .where('state', '=', 'queued')
    .where('not_before', '>', now.getTime())
    .executeTakeFirst()
  return row?.at == null ? null : new Date(Number(row.at))
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

const NOTHING: RunEnding = { turn: null, notices: [] }

/** Settles a run that has no attempt under way. False if it has one, or is settled already. */
export async function settleQueued(
  tx: Tx,
  id: RunId,
  outcome: Outcome,
  at: Date,
  { turn, tier, notices }: RunEnding = NOTHING,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
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
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await countSettled(tx, id)
  await followRun(tx, id, at)
  const end: EventBody = { type: 'run-end', outcome }
  await appendEvents(tx, id, null, [end], at)
  if (turn) await endTurn(tx, turn, at)
  if (tier) await addEscalation(tx, tier)
  await enqueueNotifications(tx, notices, at)
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

/** In the transaction that takes away what they were for. Whoever supervises one that is running stops it then. */
export async function cancelRuns(tx: Tx, ids: readonly RunId[], at: Date): Promise<void> {
  for (const id of ids) {
    if (await settleQueued(tx, id, { name: 'cancelled', message: 'cancelled' }, at)) continue
    await markCancelRequested(tx, id, at)
  }
}

/** Leaves a queued run for later. */
export async function postponeRun(tx: Tx, id: RunId, until: Date, why: string): Promise<void> {
  await tx
    .updateTable('runs')
    .set({ not_before: until.getTime(), wait_ms: null, message: why })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .execute()
}
