/** A prompt that is due in a session at a later time. */
import type { FollowUpState } from '../../contract/follow-up.ts'
import type { AttemptId, CycleId, FollowUpId, RunId, SessionId } from '../../contract/ids.ts'

export interface FollowUpRecord {
  id: FollowUpId
  state: FollowUpState
  prompt: string
  /** The id of the message by which the prompt is given to an agent, so that it is accepted once. */
  messageId: string
  reason: string | null
  createdBy: 'agent' | 'person'
  runId: RunId | null
  /** The root of the chain it belongs to. */
  rootRunId: RunId | null
  sessionId: SessionId | null
  cycleId: CycleId | null
  tier: number | null
  /** The tool call by which the agent asked for it. */
  call: { attemptId: AttemptId; toolUseId: string } | null
  cron: string | null
  timeZone: string | null
  recurring: boolean
  /** Given as a duration from now: the due time moves with the clock. */
  relative: boolean
  dueAt: Date
  expiresAt: Date | null
  firedCount: number
  firedAt: Date | null
  firedRunId: RunId | null
  /** Set if the prompt was given to a kept process. */
  firedAttemptId: AttemptId | null
  /** The id of the message by which it was given last. */
  firedMessageId: string | null
  cancelledBy: 'agent' | 'person' | null
  message: string | null
  createdAt: Date
  endedAt: Date | null
}
