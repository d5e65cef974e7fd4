/** Queries on follow-ups. */
import { type Kysely, sql } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { FollowUpState } from '../../contract/follow-up.ts'
import type { Page } from '../../contract/http.ts'
import { FollowUpId, type RunId, type SessionId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { FollowUpRecord } from './records.ts'
import { toFollowUp } from './rows.ts'

export async function findOfCall(
  db: Kysely<Tables>,
  { attemptId, toolUseId }: NonNullable<FollowUpRecord['call']>,
): Promise<FollowUpRecord | null> {
  const row = await db
    .selectFrom('follow_ups')
    .selectAll()
    .where('attempt_id', '=', attemptId)
    .where('tool_use_id', '=', toolUseId)
    .executeTakeFirst()
  return row ? toFollowUp(row) : null
}

export interface FollowUpQuery {
  limit: number
  cursor?: string | undefined
  state?: FollowUpState | undefined
  runId?: RunId | undefined
  rootRunId?: RunId | undefined
  sessionId?: SessionId | undefined
}

/** Newest first. With `runId`: the follow-ups that the run asked for, and those that were given to it. */
export async function listFollowUps(
  db: Kysely<Tables>,
  { limit, cursor, state, runId, rootRunId, sessionId }: FollowUpQuery,
): Promise<Page<FollowUpRecord>> {
  let select = db
    .selectFrom('follow_ups')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (cursor !== undefined) {
    if (!FollowUpId.is(cursor))
      throw new RepriseError('bad-request', 'cursor: expected the `nextCursor` of a previous page')
    select = select.where('id', '<', cursor)
  }
  if (state) select = select.where('state', '=', state)
  if (runId) select = select.where((eb) => eb.or([eb('run_id', '=', runId), eb('fired_run_id', '=', runId)]))
  if (rootRunId) select = select.where('root_run_id', '=', rootRunId)
  if (sessionId) select = select.where('session_id', '=', sessionId)
  const rows = await select.execute()
  const items = rows.slice(0, limit).map(toFollowUp)
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
}

export async function getFollowUp(db: Kysely<Tables>, id: FollowUpId): Promise<FollowUpRecord | null> {
  const row = await db.selectFrom('follow_ups').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? toFollowUp(row) : null
}

/** Planned follow-ups of a chain, or of a session if there is no chain. */
export async function listPlanned(
  db: Kysely<Tables>,
  { rootRunId, sessionId }: { rootRunId: RunId | null; sessionId: SessionId | null },
): Promise<FollowUpRecord[]> {
  const planned = db.selectFrom('follow_ups').selectAll().where('state', '=', sql.lit('planned'))
  const rows = await (rootRunId === null
    ? planned.where('session_id', '=', sessionId)
    : planned.where('root_run_id', '=', rootRunId)
  )
    .orderBy('due_at')
    .orderBy('id')
    .execute()
  return rows.map(toFollowUp)
}

/** Planned follow-ups of a run, for which its process may be kept; those due first come first. */
export async function listPlannedOfRun(db: Kysely<Tables>, runId: RunId): Promise<FollowUpRecord[]> {
  const rows = await db
    .selectFrom('follow_ups')
    .selectAll()
    .where('run_id', '=', runId)
    .where('state', '=', sql.lit('planned'))
    .orderBy('due_at')
    .orderBy('id')
    .execute()
  return rows.map(toFollowUp)
}

/**
 * Follow-ups that are due now. Those of a run that is still running are left out, because its process is given them.
 */
export async function listDue(db: Kysely<Tables>, now: Date, limit: number): Promise<FollowUpRecord[]> {
  const rows = await db
    .selectFrom('follow_ups as f')
    .selectAll('f')
    .where('f.state', '=', sql.lit('planned'))
    .where('f.due_at', '<=', now.getTime())
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs as r')
            .select('r.id')
            .whereRef('r.id', '=', 'f.run_id')
            .where('r.state', '<>', 'settled'),
        ),
      ),
    )
    .orderBy('f.due_at')
    .orderBy('f.id')
    .limit(limit)
    .execute()
  return rows.map(toFollowUp)
}

/** When the next follow-up becomes due that is not due yet. */
export async function nextFollowUpAt(db: Kysely<Tables>, now: Date): Promise<Date | null> {
  const row = await db
    .selectFrom('follow_ups')
    .select('due_at')
    .where('state', '=', sql.lit('planned'))
    .where('due_at', '>', now.getTime())
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst()
  return row ? new Date(Number(row.due_at)) : null
}

/** The follow-up that was last given to a process of this run: the one it is working on. */
export async function findLiveOf(db: Kysely<Tables>, runId: RunId): Promise<FollowUpRecord | null> {
  const row = await db
    .selectFrom('follow_ups')
    .selectAll()
    .where('fired_run_id', '=', runId)
    .where('fired_attempt_id', 'is not', null)
    .orderBy('fired_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? toFollowUp(row) : null
}
