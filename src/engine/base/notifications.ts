import type { Narrowing, Notice, PlannedNotification } from '../../core/notify/plan.ts'

/** Tells people what happened: plan, store the plan in the transaction in which it happens, then wake. */
export interface Notifications {
  /** `webhook` is the subject's own. */
  plan: (notice: Notice, webhook: string | null, narrowing?: Narrowing) => PlannedNotification[]
  /** The names of those that are configured. */
  targets: readonly string[]
  wake: () => void
  open: () => void
  /** What is being sent is broken off and stays pending. */
  close: () => Promise<void>
  /** Forgets what was sent, or given up, long ago. */
  sweep: () => Promise<void>
}
