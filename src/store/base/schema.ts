/**
 * The tables, as the queries see them. Instants are milliseconds since 1970, JSON is text: the same on every database.
 * Here are those that all features share; each feature adds its own to `Tables` in its `schema.ts`.
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

/** Small things worth remembering across restarts, by key: probe results, learned prices. */
export interface FactsTable {
  key: string
  value: string
}

/** What is to be told, and to whom. Once for each subject, event, occurrence and target. */
export interface NotificationsTable {
  id: NotificationId
  event: NotifyEvent
  subject_kind: Subject['kind']
  subject_id: Subject['id']
  occurrence: string
  /** A configured target's name, or an address. */
  target: string
  /** The subject as it was. */
  payload: string
  state: 'pending' | 'delivered' | 'given-up'
  tries: number
  /** Of a pending one. */
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

/** A row for each thing that is decided about by one transaction at a time; see key-lock.ts. */
export interface KeyLocksTable {
  key: string
  taken: number
}
