/** Watches and their cycles. */

import type { CycleOutcome, Trigger, WatchEvent } from '../../contract/cycle.ts'
import type { CycleId, RunId, SessionId, WatchId } from '../../contract/ids.ts'
import type { WatchDefinition } from '../../contract/watch.ts'

export interface WatchRecord {
  id: WatchId
  name: string
  source: 'config' | 'api'
  definition: WatchDefinition
  state: 'active' | 'paused'
  /** The scheduled time, and the time at which to fire; null: the watch does not fire by itself. */
  due: { at: Date; fireAt: Date } | null
  /** Set only for a persistent memory. */
  memory: { sessionId: SessionId; since: Date; cycles: number } | null
  cycles: number
  createdAt: Date
  updatedAt: Date
}

export interface CycleRecord {
  id: CycleId
  watchId: WatchId
  number: number
  state: 'queued' | 'open' | 'ended' | 'skipped'
  trigger: Trigger
  reason: string | null
  message: string | null
  events: WatchEvent[]
  /** The prompt that the first run was given. */
  prompt: string | null
  outcome: CycleOutcome | null
  status: string | null
  summary: string | null
  renewed: string | null
  rootRunId: RunId | null
  dueAt: Date
  startedAt: Date | null
  endedAt: Date | null
  deadlineAt: Date | null
  /** The cycle whose agent has read the events of this one, which is skipped therefore. */
  takenBy: CycleId | null
}
