/**
 * Adds notifications to the outbox. A notification is stored in the transaction of the change that it reports, so every
 * feature may add one; notify/ sends it later.
 */
import { NotificationId } from '../../contract/ids.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import { targetKey } from '../../core/notify/target.ts'
import { redactNotice } from './redaction.ts'
import type { Tx } from './transaction.ts'

/** A notification with the same subject, event, occurrence and target is stored only once. Returns how many are new. */
export async function enqueueNotifications(
  tx: Tx,
  items: readonly PlannedNotification[],
  at: Date,
): Promise<number> {
  let added = 0
  for (const item of items) {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('notifications')
      .values({
        id: NotificationId.create(at),
        event: item.event,
        subject_kind: item.subject.kind,
        subject_id: item.subject.id,
        occurrence: item.occurrence,
        target: targetKey(item.target),
        payload: redactNotice(tx.redactor, JSON.stringify(item.payload)),
        state: 'pending',
        tries: 0,
        not_before: at.getTime(),
        last_error: null,
        created_at: at.getTime(),
        ended_at: null,
      })
      .onConflict((oc) => oc.doNothing())
      .executeTakeFirstOrThrow()
    added += Number(numInsertedOrUpdatedRows ?? 0)
  }
  return added
}
