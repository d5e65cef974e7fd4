import type { Narrowing, Notice, PlannedNotification } from '../../core/notify/plan.ts'

/** Notifies people: plan a notification, store it in the transaction of the change that it reports, then wake. */
export interface Notifications {
  /** `webhook` is an additional target that the job or watch itself names. */
  plan: (notice: Notice, webhook: string | null, narrowing?: Narrowing) => PlannedNotification[]
  /** The names of the configured targets. */
  targets: readonly string[]
  wake: () => void
  open: () => void
  /** Aborts deliveries in progress; they stay pending. */
  close: () => Promise<void>
}
