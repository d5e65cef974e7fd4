/** A prompt that is due in a session later. */
import type { FollowUpState } from '../../contract/follow-up.ts'
import type { AttemptId, CycleId, FollowUpId, RunId, SessionId } from '../../contract/ids.ts'

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
