/** The table of follow-ups. */
import type { FollowUpState } from '../../contract/follow-up.ts'
import type { AttemptId, CycleId, FollowUpId, RunId, SessionId } from '../../contract/ids.ts'

export interface FollowUpsTable {
  id: FollowUpId
  state: FollowUpState
  prompt: string
  /** The id of the message by which the prompt is given to an agent, so that it is accepted once. */
  message_id: string
  reason: string | null
  created_by: 'agent' | 'person'
  run_id: RunId | null
  root_run_id: RunId | null
  session_id: SessionId | null
  cycle_id: CycleId | null
  tier: number | null
  /** The tool call by which the agent asked for it. */
  attempt_id: AttemptId | null
  tool_use_id: string | null
  cron: string | null
  time_zone: string | null
  recurring: number
  /** 1: given as a duration from now, not as a time of day. */
  relative: number
  due_at: number
  expires_at: number | null
  fired_count: number
  fired_at: number | null
  fired_run_id: RunId | null
  /** Set if the prompt was given to a kept process. */
  fired_attempt_id: AttemptId | null
  fired_message_id: string | null
  cancelled_by: 'agent' | 'person' | null
  message: string | null
  created_at: number
  ended_at: number | null
}

declare module '../base/schema.ts' {
  interface Tables {
    follow_ups: FollowUpsTable
  }
}
