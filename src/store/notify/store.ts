/** The store interface of notifications. */
import type { Kysely } from 'kysely'
import type { Notice, PlannedNotification } from '../../core/notify/plan.ts'
import { enqueueNotifications } from '../base/outbox.ts'
import type { Tables } from '../base/schema.ts'
import type { Write } from '../base/transaction.ts'
import * as notifications from './notifications.ts'
import type { NotificationRecord } from './records.ts'

export interface NotificationStore {
  /** Returns how many are new. A change that has its own transaction stores its notifications in that one instead. */
  enqueueNotifications: (items: readonly PlannedNotification[], at: Date) => Promise<number>
  listDueNotifications: (
    now: Date,
    limit: number,
    busyTargets?: readonly string[],
  ) => Promise<NotificationRecord[]>
  nextNotificationAt: (now: Date) => Promise<Date | null>
  markDelivered: (notification: NotificationRecord, at: Date) => Promise<boolean>
  /** `notBefore` null: Reprise gives up. */
  markFailedTry: (
    notification: NotificationRecord,
    error: string,
    notBefore: Date | null,
    at: Date,
  ) => Promise<boolean>
  listNotifications: (subject: Notice['subject']) => Promise<NotificationRecord[]>
  deleteEndedNotifications: (before: Date) => Promise<number>
}

export function createNotificationStore(reader: Kysely<Tables>, write: Write): NotificationStore {
  return {
    enqueueNotifications: (items, at) => write((tx) => enqueueNotifications(tx, items, at)),
    listDueNotifications: (now, limit, busy) => notifications.listDueNotifications(reader, now, limit, busy),
    nextNotificationAt: (now) => notifications.nextNotificationAt(reader, now),
    markDelivered: (notification, at) => write((tx) => notifications.markDelivered(tx, notification, at)),
    markFailedTry: (notification, error, notBefore, at) =>
      write((tx) => notifications.markFailedTry(tx, notification, error, notBefore, at)),
    listNotifications: (subject) => notifications.listNotifications(reader, subject),
    deleteEndedNotifications: (before) => write((tx) => notifications.deleteEndedNotifications(tx, before)),
  }
}
