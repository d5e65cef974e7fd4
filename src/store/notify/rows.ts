/** Converts rows of the outbox to records. */
import type { Subject } from '../../core/notify/plan.ts'
import type { NotificationsTable } from '../base/schema.ts'
import type { NotificationRecord } from './records.ts'

export function toNotification(row: NotificationsTable): NotificationRecord {
  return {
    id: row.id,
    event: row.event,
    subject: { kind: row.subject_kind, id: row.subject_id } as Subject,
    occurrence: row.occurrence,
    target: JSON.parse(row.target),
    payload: JSON.parse(row.payload),
    state: toNotificationState(row),
    tries: row.tries,
    lastError: row.last_error,
    createdAt: new Date(Number(row.created_at)),
  }
}

function toNotificationState(row: NotificationsTable): NotificationRecord['state'] {
  if (row.state === 'pending') return { at: 'pending', notBefore: new Date(Number(row.not_before)) }
  const endedAt = new Date(Number(row.ended_at))
  return row.state === 'delivered'
    ? { at: 'delivered', deliveredAt: endedAt }
    : { at: 'given-up', givenUpAt: endedAt }
}
