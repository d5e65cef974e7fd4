/** What follows from runs at a tier, and actions on services. */
import type { Escalation } from '../../contract/escalation.ts'
import type { ActionId, AttemptId, RunId } from '../../contract/ids.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { Action } from '../../core/rules/cooldown.ts'
import type { NewRun } from '../runs/records.ts'

export type EscalationRecord = Omit<Escalation, 'decidedAt' | 'expiresAt' | 'askHash'> & {
  decidedAt: Date
  expiresAt: Date | null
}

export interface TierEnding {
  escalation: EscalationRecord
  /** The run of the next tier. */
  next: NewRun | null
  /** The notifications to send. */
  notices: readonly PlannedNotification[]
}

export interface ActionRecord extends Action {
  id: ActionId
  runId: RunId
  attemptId: AttemptId
  /** The tool call or the call of a program that claimed it. */
  callId: string | null
  /** The time from which it counts. */
  at: Date
}
