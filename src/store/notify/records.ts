/** A notification in the outbox. */
import type { NotificationId } from '../../contract/ids.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'

export interface NotificationRecord extends PlannedNotification {
  id: NotificationId
  state:
    | { at: 'pending'; notBefore: Date }
    | { at: 'delivered'; deliveredAt: Date }
    | { at: 'given-up'; givenUpAt: Date }
  tries: number
  /** The error of the last failed try. */
  lastError: string | null
  createdAt: Date
}
