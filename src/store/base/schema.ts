/**
 * The tables, as the queries see them. Instants are milliseconds since 1970 and JSON is text, the same on every
 * database. This file has the tables that all features share; each feature adds its own to `Tables` in its `schema.ts`.
 */
import type { NotificationId } from '../../contract/ids.ts'
import type { NotifyEvent } from '../../contract/notification.ts'
import type { Subject } from '../../core/notify/plan.ts'

export interface Tables {
  facts: FactsTable
  request_keys: RequestKeysTable
  key_locks: KeyLocksTable
  notifications: NotificationsTable
}

/** Small facts that are kept across restarts, by key: probe results, learned prices. */
export interface FactsTable {
  key: string
  value: string
}

/** The outbox: at most one notification for each subject, event, occurrence and target. */
export interface NotificationsTable {
  id: NotificationId
  event: NotifyEvent
  subject_kind: Subject['kind']
  subject_id: Subject['id']
  occurrence: string
  /** The name of a configured target, or an address. */
  target: string
  /** The subject as it was when the event happened. */
  payload: string
  state: 'pending' | 'delivered' | 'given-up'
  tries: number
  /** Set only for pending notifications. */
  not_before: number | null
  last_error: string | null
  created_at: number
  ended_at: number | null
}

/** What a creating call made, by its scope and Idempotency-Key; see request-keys.ts. */
export interface RequestKeysTable {
  key: string
  request_hash: string
  made: string
}

/** One row for each thing that only one transaction at a time may decide about; see key-lock.ts. */
export interface KeyLocksTable {
  key: string
  taken: number
}
