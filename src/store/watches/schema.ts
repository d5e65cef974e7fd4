/** The tables of watches, their cycles and the events sent to them. */

import type { CycleOutcome, Trigger } from '../../contract/cycle.ts'
import type { CycleId, RunId, SessionId, WatchId } from '../../contract/ids.ts'

export interface WatchesTable {
  id: WatchId
  name: string
  source: 'config' | 'api'
  definition: string
  state: 'active' | 'paused'
  /** The scheduled time, without and with jitter. */
  due_at: number | null
  next_at: number | null
  /** Set only for a persistent memory: the session, since when, and for how many cycles. */
  session_id: SessionId | null
  session_since: number | null
  session_cycles: number
  cycles: number
  created_at: number
  updated_at: number
  removed_at: number | null
}

/**
 * queued → open → ended, or skipped: from the start, or when the agent of the open cycle has read all of its events. At
 * most one open cycle per watch.
 */
export interface CyclesTable {
  id: CycleId
  watch_id: WatchId
  number: number
  state: 'queued' | 'open' | 'ended' | 'skipped'
  trigger: Trigger
  /** The reason that was given for triggering it. */
  reason: string | null
  message: string | null
  events: string
  prompt: string | null
  /** Set before the end once it is decided: the deadline has passed, or the cycle was cancelled. */
  outcome: CycleOutcome | null
  status: string | null
  summary: string | null
  renewed: string | null
  root_run_id: RunId | null
  due_at: number
  started_at: number | null
  ended_at: number | null
  deadline_at: number | null
  /** The cycle whose agent has read the events of this one. */
  taken_by: CycleId | null
}

export interface WatchEventsTable {
  watch_id: WatchId
  fingerprint: string
  /** The cycle that investigates it, or did so. */
  cycle_id: CycleId
  at: number
  resolved_at: number | null
}

declare module '../base/schema.ts' {
  interface Tables {
    watches: WatchesTable
    cycles: CyclesTable
    watch_events: WatchEventsTable
  }
}
