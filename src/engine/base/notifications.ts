import type { NotificationTest } from '../../contract/notification.ts'
import type { Narrowing, Notice, PlannedNotification } from '../../core/notify/plan.ts'

/** Notifies people: plan a notification, store it in the transaction of the change that it reports, then wake. */
export interface Notifications {
  /** `webhook` is an additional target that the job or watch itself names. */
  plan: (notice: Notice, webhook: string | null, narrowing?: Narrowing) => PlannedNotification[]
  /** The names of the configured targets. */
  targets: readonly string[]
  /** Sends a test to these targets, or to all, once. Throws if there is no such target. */
  test: (names?: readonly string[]) => Promise<NotificationTest[]>
  wake: () => void
  open: () => void
  /** Aborts deliveries in progress; they stay pending. */
  close: () => Promise<void>
}
