/** Watches, cycles and follow-ups as the engine sees them. */
import type { FollowUpState } from '../../contract/follow-up.ts'
import type { AttemptId, CycleId, FollowUpId, RunId, SessionId, WatchId } from '../../contract/ids.ts'
import type { CycleOutcome, Trigger, WatchDefinition, WatchEvent } from '../../contract/watch.ts'

export interface WatchRecord {
  id: WatchId
  name: string
  source: 'config' | 'api'
  definition: WatchDefinition
  state: 'active' | 'paused'
  /** The time by its schedule, and the one at which it is to fire; null: not by itself. */
  due: { at: Date; fireAt: Date } | null
  /** Of a persistent memory. */
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
  /** As it was given to the first run. */
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
}

export interface FollowUpRecord {
  id: FollowUpId
  state: FollowUpState
  prompt: string
  /** Of the message with which its prompt is given to an agent, so that it is taken once. */
  messageId: string
  reason: string | null
  createdBy: 'agent' | 'person'
  runId: RunId | null
  /** Of the chain it belongs to. */
  rootRunId: RunId | null
  sessionId: SessionId | null
  cycleId: CycleId | null
  tier: number | null
  /** The call with which the agent asked for it. */
  call: { attemptId: AttemptId; toolUseId: string } | null
  cron: string | null
  timeZone: string | null
  recurring: boolean
  /** Asked for "in a while": it moves with the clock. */
  relative: boolean
  dueAt: Date
  expiresAt: Date | null
  firedCount: number
  firedAt: Date | null
  firedRunId: RunId | null
  /** It was given to a process that had been kept waiting for it. */
  firedAttemptId: AttemptId | null
  /** Of the message it was given with last. */
  firedMessageId: string | null
  cancelledBy: 'agent' | 'person' | null
  message: string | null
  createdAt: Date
  endedAt: Date | null
}
