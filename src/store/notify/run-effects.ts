/** The notifications that a change of a run sends. */
import type { PlannedNotification } from '../../core/notify/plan.ts'
import { enqueueNotifications } from '../base/outbox.ts'
import type { RunEffect } from '../base/transaction.ts'

export interface NotificationEffects {
  notify: (items: readonly PlannedNotification[]) => RunEffect
  /** Sends nothing if the pause has become unnecessary meanwhile. */
  notifyOfPause: (items: readonly PlannedNotification[]) => RunEffect
}

export const notificationEffects: NotificationEffects = {
  notify:
    (items) =>
    async (tx, { at }) => {
      await enqueueNotifications(tx, items, at)
    },
  notifyOfPause:
    (items) =>
    async (tx, { at, paused }) => {
      if (paused) await enqueueNotifications(tx, items, at)
    },
}
