/**
 * Paused runs: queued runs that have waited too long behind an obstacle. A person may continue them at any time, they
 * continue when another run reaches the model, and now and then one of them tries again by itself if no other run
 * does. Otherwise nothing would notice the end of an outage that has paused every run of an account.
 */
import type { Kysely } from 'kysely'
import type { RunId } from '../../contract/ids.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { Obstacle } from '../../core/obstacle/obstacle.ts'
import { enqueueNotifications } from '../base/outbox.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { appendEvents } from '../runs/events.ts'
import { PAUSED_MS } from '../runs/rows.ts'
import { announceDelay } from '../runs/run-changes.ts'
import { liveProbe } from './obstacles.ts'
import { accountOf, isNotPaused, modelOf, obstacleKey } from './rows.ts'

const LISTED = 50

export interface Pause {
  behind: Pick<Obstacle, 'account' | 'model'>
  why: string
  /** The notifications to send. */
  notices: readonly PlannedNotification[]
}

/** Pauses a run that has waited too long, until a person continues it. Returns false if it is not queued any more. */
export async function pauseRun(
  tx: Tx,
  id: RunId,
  { behind, why, notices }: Pause,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('runs')
    .set({ not_before: PAUSED_MS, message: why, held_by: obstacleKey(behind) })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await announceDelay(tx, id, PAUSED_MS - at.getTime())
  await appendEvents(tx, id, null, [{ type: 'note', text: why }], at)
  await enqueueNotifications(tx, notices, at)
  return true
}

/** Paused runs, newest first. */
export async function listPaused(db: Kysely<Tables>): Promise<RunId[]> {
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('state', '=', 'queued')
    .where('not_before', '>=', PAUSED_MS)
    .orderBy('id', 'desc')
    .limit(LISTED)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * The paused runs that should try again because no other run does: the first one behind each obstacle, and every run
 * that was paused by failures of its own. The last try must have failed before `failedBefore`.
 */
export async function listPausedDue(db: Kysely<Tables>, failedBefore: Date, now: Date): Promise<RunId[]> {
  const paused = await db
    .selectFrom('runs')
    .select(['id', 'held_by'])
    .where('state', '=', 'queued')
    .where('not_before', '>=', PAUSED_MS)
    .orderBy('priority', 'desc')
    .orderBy('id')
    .execute()
  const due: RunId[] = []
  const seen = new Set<string>()
  for (const { id, held_by: key } of paused) {
    if (key !== null && seen.has(key)) continue
    if (key !== null) seen.add(key)
    const isDue =
      key === null ? await failedItself(db, id, failedBefore) : await isUntried(db, key, failedBefore, now)
    if (isDue) due.push(id)
  }
  return due
}

async function failedItself(db: Kysely<Tables>, id: RunId, before: Date): Promise<boolean> {
  const last = await db
    .selectFrom('attempts')
    .select('ended_at')
    .where('run_id', '=', id)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return Number(last?.ended_at ?? 0) < before.getTime()
}

/** Whether nobody has tried to pass the obstacle since then, and no run that is not paused is going to. */
async function isUntried(db: Kysely<Tables>, key: string, before: Date, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('obstacles')
    .selectAll()
    .where('account', '=', accountOf(key))
    .where('model', '=', modelOf(key))
    .executeTakeFirst()
  if (!row) return true
  if (Number(row.last_failure_at) >= before.getTime()) return false
  if (row.resets_at !== null && Number(row.resets_at) > now.getTime()) return false
  if ((await liveProbe(db, row, now)) !== null) return false
  const waiting = await db
    .selectFrom('runs')
    .select('id')
    .where('state', '=', 'queued')
    .where('held_by', '=', key)
    .where(isNotPaused)
    .limit(1)
    .executeTakeFirst()
  return waiting === undefined
}
