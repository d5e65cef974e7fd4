/**
 * Sends what is in the outbox (base/outbox.ts): pending → delivered | given-up. Notifications of one subject go to a
 * target in the order in which they happened: only the oldest pending one is due.
 */
import { type Kysely, sql } from 'kysely'
import type { Notice } from '../../core/notify/plan.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { NotificationRecord } from './records.ts'
import { toNotification } from './rows.ts'

/** Longest due first. `busy`: keys of targets that must not be sent more at present. */
export async function listDueNotifications(
  db: Kysely<Tables>,
  now: Date,
  limit: number,
  busy: readonly string[] = [],
): Promise<NotificationRecord[]> {
  const rows = await db
    .selectFrom('notifications as n')
    .selectAll()
    .$if(busy.length > 0, (query) => query.where('target', 'not in', busy))
    .where('state', '=', sql.lit('pending'))
    .where('not_before', '<=', now.getTime())
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('notifications as earlier')
            .select('earlier.id')
            .whereRef('earlier.subject_id', '=', 'n.subject_id')
            .whereRef('earlier.subject_kind', '=', 'n.subject_kind')
            .whereRef('earlier.target', '=', 'n.target')
            .whereRef('earlier.id', '<', 'n.id')
            .where('earlier.state', '=', sql.lit('pending')),
        ),
      ),
    )
    .orderBy('not_before')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(toNotification)
}

/** When the next notification becomes due that is not due yet. */
export async function nextNotificationAt(db: Kysely<Tables>, now: Date): Promise<Date | null> {
  const row = await db
    .selectFrom('notifications')
    .select('not_before')
    .where('state', '=', sql.lit('pending'))
    .where('not_before', '>', now.getTime())
    .orderBy('not_before')
    .limit(1)
    .executeTakeFirst()
  return row?.not_before == null ? null : new Date(Number(row.not_before))
}

type Try = Pick<NotificationRecord, 'id' | 'tries'>

/** Returns false if it is no longer pending, or another try has happened meanwhile. */
export async function markDelivered(tx: Tx, { id, tries }: Try, at: Date): Promise<boolean> {
  return endTry(tx, { id, tries }, { state: 'delivered', ended_at: at.getTime(), not_before: null })
}

/** `notBefore` null: Reprise gives up. Returns false in the same cases as `markDelivered`. */
export async function markFailedTry(
  tx: Tx,
  { id, tries }: Try,
  error: string,
  notBefore: Date | null,
  at: Date,
): Promise<boolean> {
  const fate = notBefore
    ? ({ state: 'pending', ended_at: null, not_before: notBefore.getTime() } as const)
    : ({ state: 'given-up', ended_at: at.getTime(), not_before: null } as const)
  return endTry(tx, { id, tries }, { ...fate, last_error: error })
}

async function endTry(
  tx: Tx,
  { id, tries }: Try,
  change: Partial<Pick<Tables['notifications'], 'state' | 'ended_at' | 'not_before' | 'last_error'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('notifications')
    .set({ ...change, tries: tries + 1 })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .where('tries', '=', tries)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** All notifications of one subject, oldest first. */
export async function listNotifications(
  db: Kysely<Tables>,
  { kind, id }: Notice['subject'],
): Promise<NotificationRecord[]> {
  const rows = await db
    .selectFrom('notifications')
    .selectAll()
    .where('subject_id', '=', id)
    .where('subject_kind', '=', kind)
    .orderBy('id')
    .execute()
  return rows.map(toNotification)
}

/** Deletes notifications that were delivered or given up before then. Returns how many. */
export async function deleteEndedNotifications(tx: Tx, before: Date): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('notifications')
    .where('state', '<>', 'pending')
    .where('ended_at', '<', before.getTime())
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
