/** The tables of watches, their cycles and follow-ups. */
import type { FollowUpState } from '../../contract/follow-up.ts'
import type { AttemptId, CycleId, FollowUpId, RunId, SessionId, WatchId } from '../../contract/ids.ts'
import type { CycleOutcome, Trigger } from '../../contract/watch.ts'

export interface WatchesTable {
  id: WatchId
  name: string
  source: 'config' | 'api'
  definition: string
  state: 'active' | 'paused'
  /** The time by the schedule, and with its jitter. */
  due_at: number | null
  next_at: number | null
  /** Of a persistent memory: the session, since when, and for how many cycles. */
  session_id: SessionId | null
  session_since: number | null
  session_cycles: number
  cycles: number
  created_at: number
  updated_at: number
  removed_at: number | null
}

/** queued → open → ended, or skipped from the start. One open cycle a watch. */
export interface CyclesTable {
  id: CycleId
  watch_id: WatchId
  number: number
  state: 'queued' | 'open' | 'ended' | 'skipped'
  trigger: Trigger
  /** Why somebody triggered it. */
  reason: string | null
  message: string | null
  events: string
  prompt: string | null
  /** Set before it has ended when it is certain: its time is over, or it was cancelled. */
  outcome: CycleOutcome | null
  status: string | null
  summary: string | null
  renewed: string | null
  root_run_id: RunId | null
  due_at: number
  started_at: number | null
  ended_at: number | null
  deadline_at: number | null
}

export interface WatchEventsTable {
  watch_id: WatchId
  fingerprint: string
  /** The cycle that looks, or looked, into it. */
  cycle_id: CycleId
  at: number
  resolved_at: number | null
}

export interface FollowUpsTable {
  id: FollowUpId
  state: FollowUpState
  prompt: string
  /** Of the message with which it is given to an agent, so that it is taken once. */
  message_id: string
  reason: string | null
  created_by: 'agent' | 'person'
  run_id: RunId | null
  root_run_id: RunId | null
  session_id: SessionId | null
  cycle_id: CycleId | null
  tier: number | null
  /** The call with which the agent asked for it. */
  attempt_id: AttemptId | null
  tool_use_id: string | null
  cron: string | null
  time_zone: string | null
  recurring: number
  /** Asked for "in a while", not for a time of the day. */
  relative: number
  due_at: number
  expires_at: number | null
  fired_count: number
  fired_at: number | null
  fired_run_id: RunId | null
  /** It was given to a process that was kept waiting. */
  fired_attempt_id: AttemptId | null
  fired_message_id: string | null
  cancelled_by: 'agent' | 'person' | null
  message: string | null
  created_at: number
  ended_at: number | null
}

/** What a creating call made, by its Idempotency-Key. */
export interface RequestKeysTable {
  key: string
  request_hash: string
  /** The id of a cycle or a follow-up. */
  made: string
}
